"""Audit: inspection, replay, dispute, verdict."""
