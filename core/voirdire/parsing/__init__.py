"""From a raw reply to what it says: scores, labels, choices, yes/no, preferences, questionnaires."""
