"""The Wyoming protocol: speech and intents for Home Assistant, on models that sessions share."""
