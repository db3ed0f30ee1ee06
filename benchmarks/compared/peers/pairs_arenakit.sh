sed '1s/people/winner/' pairs.csv > arenakit.csv
arenakit audit arenakit.csv
