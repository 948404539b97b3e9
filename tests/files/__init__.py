"""Files and databases of records: what is read, and what is refused."""
