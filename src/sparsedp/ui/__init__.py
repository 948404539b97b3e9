"""A page in the browser, as a front to the command line.

Every step runs exactly the command that it shows, as a process of its own, so nothing gets around
the door, and what is shown is never a lie. What was said and what came of it lies in a folder per
journey: it survives a closed tab and a restarted server, and all tabs see the same.

guard.py decides who is let in, places.py which files can be named, commands.py which commands there
are, fitting.py that a fit is charged once. Nothing here reads a record.
"""
