"""Models, judges, annotators and classifiers that come with voirdire."""
