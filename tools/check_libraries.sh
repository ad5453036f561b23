#!/bin/bash
# The shared libraries that each program links are the ones it may: the simulator needs no broker, store or certificates, and the daemons
# neither LAPACK nor oneDNN.
#
# usage: check_libraries.sh BUILD_DIRECTORY
set -euo pipefail
declare -A allowed=(
    [tacit]="c dnnl gomp jansson lapacke lzma m yaml-0 z"
    [tacitd]="c crypto jansson lzma m mosquitto sodium sqlite3 ssl yaml-0 z")
for program in tacit tacitd; do
    linked=$(readelf --dynamic "$1/$program" | sed -n 's/.*(NEEDED).*\[lib\(.*\)\.so.*\]/\1/p')
    [ -n "$linked" ] || { echo "check_libraries.sh: $1/$program links nothing: is it a program?" >&2; exit 1; }
    for library in $linked; do
        case " ${allowed[$program]} " in
        *" $library "*) ;;
        *) echo "check_libraries.sh: $program links lib$library, and may link: ${allowed[$program]}" >&2; exit 1 ;;
        esac
    done
done
