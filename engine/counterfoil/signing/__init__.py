"""Private keys and what is signed by them: claims, certificates, notes, releases, revocations, comparisons."""
