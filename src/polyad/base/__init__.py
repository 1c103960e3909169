"""What everything else stands on: array types, compiled loops, fixed directions, atomic files, the terminal."""
