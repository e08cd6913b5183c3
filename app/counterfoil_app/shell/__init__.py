"""What surrounds the views: log keeping, preferences, help, layout, languages, samples and unexpected errors."""
