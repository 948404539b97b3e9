"""From declarations (bounds files, words on the command line) to what the library takes."""
