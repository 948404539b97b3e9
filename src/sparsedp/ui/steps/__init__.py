"""One file per step of the page: how it looks, and what a form of it does.

A GET reads the journey's folder and changes nothing. A POST holds the journey, runs the step's
command, and keeps what was said if that went well; otherwise the form comes back with the command's
sentence beside the field that it concerns.
"""
