-- integrity: whether the file is whole.
pragma integrity_check
