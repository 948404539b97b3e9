"""From declarations (schema files, words on the command line) to what the library takes."""
