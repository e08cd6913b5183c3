"""The names of the files that a hub's folder holds beside those that are copied."""

CARD = "README.md"
CONFIG = "config.json"
VERDICT = "verdict.json"
AUDITOR = "auditor.pub.pem"
TRAINER = "trainer.pub.pem"
INDEX = "model.safetensors.index.json"
ADAPTER = "adapter_model.safetensors"
ADAPTER_CONFIG = "adapter_config.json"
WRITTEN = (CARD, CONFIG, VERDICT, AUDITOR, TRAINER, INDEX, ADAPTER, ADAPTER_CONFIG)
"""All of them."""
