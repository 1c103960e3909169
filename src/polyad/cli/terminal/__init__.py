"""What a person sees: tables, sentences, errors and help."""
