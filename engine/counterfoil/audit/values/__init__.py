"""What audits say, as plain frozen values; the window holds them, so nothing heavy is imported here."""
