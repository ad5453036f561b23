#!/usr/bin/env python3
"""Makes small stand-ins for MovieLens and Last.fm, in the same format: tables with the same columns, not the same content.

usage: small_ratings.py FOLDER      writes FOLDER/ml-small/*.csv, FOLDER/large/movielens/ml-20m/*.csv and FOLDER/lastfm-small/*.dat;
                                    the same each time
"""
import pathlib
import random
import sys

GENRES = ("Action", "Comedy", "Drama", "Film-Noir", "Sci-Fi", "Thriller", "Western")
TAGS = ("slow burn", "plot_twist", "don't blink", "space", "New York", "based on a book")


def movielens(folder, rng, users=12, films=90):
    """Users like what has one of their two genres; some rate much more than others."""
    about = {film: rng.sample(GENRES, rng.randint(1, 3)) for film in range(1, films + 1)}
    with open(folder / "movies.csv", "w", encoding="utf-8", newline="") as out:
        out.write("movieId,title,genres\r\n")
        for film, genres in about.items():
            out.write(f'{film},"Film, the {film}th",{"|".join(genres)}\r\n')
    ratings, tags = [], []
    for user in range(1, users + 1):
        likes = rng.sample(GENRES, 2)
        for film in rng.sample(sorted(about), 5 * user):
            stars = rng.choice((3, 4, 5)) if set(likes) & set(about[film]) else rng.choice((0.5, 1.5, 2))
            ratings.append((user, film, stars, rng.randint(10**9, 2 * 10**9)))
            if rng.random() < 0.3:
                tags.append((user, film, rng.choice(TAGS), rng.randint(10**9, 2 * 10**9)))
    for name, head, rows in (("ratings", "userId,movieId,rating,timestamp", ratings),
                             ("tags", "userId,movieId,tag,timestamp", tags)):
        with open(folder / f"{name}.csv", "w", encoding="utf-8", newline="") as out:
            out.write(head + "\r\n")
            out.writelines(",".join(map(str, row)) + "\r\n" for row in rows)


def movielens_20m(folder, rng, users=45, films=160):
    """What MovieLens 20M has beside that: more tables, half stars, numbers up to 138,493 users and 131,262 films with gaps, tags
    with quotes and commas, films without a genre, rows in order of users, lines that end without a carriage return."""
    numbers = sorted(rng.sample(range(1, 131263), films - 1)) + [131262]
    about = {film: rng.sample(GENRES, rng.randint(0, 3)) for film in numbers}
    tags = [f'"{word}, {part}"' for word in ('no ""quotes""', "ending") for part in ("good", "bad", "slow")]
    tags += [f"{first} {second}" for first in ("space", "heist", "court", "road", "war") for second in ("ship", "film", "room", "trip")]
    written = {"movies": ["movieId,title,genres"], "ratings": ["userId,movieId,rating,timestamp"],
               "tags": ["userId,movieId,tag,timestamp"], "links": ["movieId,imdbId,tmdbId"],
               "genome-tags": ["tagId,tag"], "genome-scores": ["movieId,tagId,relevance"]}
    for film, genres in about.items():
        written["movies"].append(f'{film},"Film, the {film}th (1995)",{"|".join(genres) or "(no genres listed)"}')
        written["links"].append(f"{film},0{film},")
        written["genome-scores"].append(f"{film},1,0.02500000000000002")
    written["genome-tags"].append("1,007")
    for user in sorted(rng.sample(range(1, 138493), users - 1)) + [138493]:
        likes = rng.sample(GENRES, 2)
        for film in sorted(rng.sample(numbers, rng.randint(20, 90))):
            stars = rng.choice((2.5, 3.0, 4.5, 5.0)) if set(likes) & set(about[film]) else rng.choice((0.5, 1.0, 2.0))
            written["ratings"].append(f"{user},{film},{stars},{rng.randint(789652009, 1427784002)}")
            if rng.random() < 0.2:
                written["tags"].append(f"{user},{film},{rng.choice(tags)},{rng.randint(1135429210, 1427771352)}")
    for name, lines in written.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")


def lastfm(folder, rng, users=8, artists=60):
    words = ("rock", "post-rock", "trip hop", "Motörhead", "80's", "live", "Island", "b-side")
    with open(folder / "tags.dat", "w", encoding="latin-1", newline="") as out:
        out.write("tagID\ttagValue\r\n")
        out.writelines(f"{number}\t{word}\r\n" for number, word in enumerate(words, 1))
    with open(folder / "user_taggedartists.dat", "w", encoding="latin-1", newline="") as out:
        out.write("userID\tartistID\ttagID\tday\tmonth\tyear\r\n")
        for artist in range(1, artists - 4):  # the last ones have no tags
            for _ in range(rng.randint(1, 3)):
                out.write(f"{rng.randint(1, users)}\t{artist}\t{rng.randint(1, len(words))}\t1\t4\t2009\r\n")
    with open(folder / "user_artists.dat", "w", encoding="latin-1", newline="") as out:
        out.write("userID\tartistID\tweight\r\n")
        for user in range(1, users + 1):
            for artist in rng.sample(range(1, artists + 1), 20):
                out.write(f"{user}\t{artist}\t{rng.randint(1, 9999)}\r\n")


def main(folder):
    for name, write in (("ml-small", movielens), ("large/movielens/ml-20m", movielens_20m), ("lastfm-small", lastfm)):
        (pathlib.Path(folder) / name).mkdir(parents=True, exist_ok=True)
        write(pathlib.Path(folder) / name, random.Random(7))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
