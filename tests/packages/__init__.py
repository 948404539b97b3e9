"""Packages: their contents in `make test`, installs of them in `make packages`."""
