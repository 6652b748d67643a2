"""What `./x realworld --speed` runs of each project: work of a second or more, as its users have it.

Commands run in the project's source folder like those of projects.py ($CC, $CFLAGS, $WORK), and see $INPUTS (made here)
and $HERE (the folder of programs that call a library). What a run prints must be the same bytes in every build.
"""
import dataclasses
import hashlib
import math
import pathlib
import random
import struct

HERE = pathlib.Path(__file__).resolve().parent / "workloads"


@dataclasses.dataclass(frozen=True)
class Workload:
    prepare: str  # once after the build, with the build's own compiler
    runs: dict  # name -> command
    numerical: bool = True  # else it must not change


def program(name, libraries, includes="-I."):
    """A program of ours that calls the project's library, linked as its user would."""
    return f'$CC $CFLAGS {includes} "$HERE/{name}.c" {libraries} -o $WORK/{name}'


def times(count, command):
    """The last one's output is the one that counts."""
    return f"for k in $(seq {count - 1}); do {command} > /dev/null; done; {command}"


BZIP2 = "export LD_LIBRARY_PATH=$PWD; "
OPUS = "./opus_demo"
LIBGSM = "export LD_LIBRARY_PATH=$PWD/lib; "
CS = "export LD_LIBRARY_PATH=$PWD/lib; cd CXSparse/Demo; "
CHOLMOD = "export LD_LIBRARY_PATH=$PWD/lib; cd CHOLMOD/Demo; "
WITHOUT_TIMES = r"| grep -vE 'mflop|wallclock|seconds|time|flop' | sha256sum"

WORKLOADS = {
    "zlib": Workload("true", {
        "compress": times(4, "./minigzip64 -9 < $INPUTS/large.bin"),
        "round trip": times(6, "./minigzip64 -1 < $INPUTS/large.bin | ./minigzip64 -d")}, numerical=False),
    "bzip2": Workload("true", {
        "compress": BZIP2 + "./bzip2 < $INPUTS/large.bin",
        "round trip": BZIP2 + "./bzip2 -1 < $INPUTS/large.bin | ./bzip2 -d"}, numerical=False),
    "lua": Workload("true", {"script": "./src/lua $INPUTS/work.lua"}, numerical=False),
    "sqlite3": Workload("true", {"queries": "./sqlite3 :memory: < $INPUTS/work.sql"}, numerical=False),
    "libgsm": Workload("true", {
        "encode": LIBGSM + times(6, "./bin/toast -l -c < $INPUTS/speech.raw"),
        "round trip": LIBGSM + times(5, "./bin/toast -l -c < $INPUTS/speech.raw | ./bin/untoast -l -c")}),
    "lame": Workload("true", {
        "variable rate": times(8, "./frontend/lame --quiet -r -s 44.1 -V 2 $INPUTS/music.raw -"),
        "best, 192 kbit/s": "./frontend/lame --quiet -r -s 44.1 -b 192 -q 0 $INPUTS/music.raw -"}),
    "opus": Workload(f"{OPUS} -e audio 48000 2 96000 $INPUTS/music.raw $WORK/kept.bit > $WORK/log", {
        "music": f"for k in $(seq 5); do {OPUS} -e audio 48000 2 96000 $INPUTS/music.raw $WORK/bit > $WORK/log; done; cat $WORK/bit",
        "decode": f"for k in $(seq 15); do {OPUS} -d 48000 2 $WORK/kept.bit $WORK/out > $WORK/log; done; cat $WORK/out",
        "speech": f"{OPUS} -e voip 8000 1 16000 $INPUTS/speech.raw $WORK/bit > $WORK/log; cat $WORK/bit"}),
    "libvorbis": Workload("make -C examples -j$JOBS encoder_example decoder_example && "
                          "./examples/encoder_example < $INPUTS/music.wav > $WORK/music.ogg", {
        # The serial number of a stream is drawn from the time of day.
        "encode": times(5, "./examples/encoder_example < $INPUTS/music.wav | wc -c"),
        "decode": times(20, "./examples/decoder_example < $WORK/music.ogg")}),
    "libjpeg-turbo": Workload("$WORK/build/cjpeg -quality 90 -outfile $WORK/photo.jpg $INPUTS/photo.ppm", {
        "encode": times(30, "$WORK/build/cjpeg -quality 90 $INPUTS/photo.ppm"),
        "encode, progressive": times(10, "$WORK/build/cjpeg -quality 90 -progressive $INPUTS/photo.ppm"),
        "decode": times(40, "$WORK/build/djpeg $WORK/photo.jpg"),
        "half size, floating point": times(40, "$WORK/build/djpeg -dct float -scale 1/2 $WORK/photo.jpg")}),
    "libpng": Workload(program("libpng", ".libs/libpng16.a -lz -lm"), {"write and read": "$WORK/libpng"}),
    "gsl": Workload(program("gsl", ".libs/libgsl.a cblas/.libs/libgslcblas.a -lm"), {
        "linear algebra": "$WORK/gsl linear", "transforms": "$WORK/gsl transforms", "statistics": "$WORK/gsl statistics"}),
    "fftw3": Workload(program("fftw3", ".libs/libfftw3.a -lm", "-Iapi"), {"transforms": "$WORK/fftw3"}),
    "suitesparse": Workload("true", {
        "Cholesky": CHOLMOD + f"./cholmod_demo < $INPUTS/laplace.mtx {WITHOUT_TIMES}",
        "Cholesky, QR and LU": CS + f"./cs_di_demo2 < $INPUTS/laplace.txt {WITHOUT_TIMES}"}),
    "openblas": Workload(program("openblas", "libopenblas.a -lpthread -lm"), {
        f"level {level}": f"OPENBLAS_NUM_THREADS=1 $WORK/openblas {level}" for level in (1, 2, 3)}),
    "netcdf": Workload(program("netcdf", "liblib/.libs/libnetcdf.a -lm", "-Iinclude"), {
        "convert": "$WORK/netcdf $WORK/fields.nc"}),
}

LUA = """\
local function spectral(n)
  local function a(i, j) local s = i + j return 1 / (s * (s + 1) // 2 + i + 1) end
  local function times(v, transposed)
    local r = {}
    for i = 0, n - 1 do
      local s = 0
      for j = 0, n - 1 do s = s + (transposed and a(j, i) or a(i, j)) * v[j] end
      r[i] = s
    end
    return r
  end
  local u = {}
  for i = 0, n - 1 do u[i] = 1 end
  for _ = 1, 4 do u = times(times(u), true) end
  return u[n // 2]
end
local function words(n)
  local counts, state = {}, 1
  for _ = 1, n do
    state = (state * 1103515245 + 12345) % 2147483648
    local word = string.format("w%d", state % 5003)
    counts[word] = (counts[word] or 0) + 1
  end
  local all = {}
  for word, count in pairs(counts) do all[#all + 1] = count .. word end
  table.sort(all)
  return table.concat(all, " "):gsub("w1", "v"):sub(1, 60)
end
print(string.format("%.15g", spectral(1000)), words(4000000))
"""

SQL = """\
create table t(a integer primary key, b text, c real);
with recursive n(x) as (select 1 union all select x + 1 from n where x < 300000)
insert into t select x, printf('%06d-%s', (x * 7919) % 300000, hex(x)), x * 1.25 from n;
create index tb on t(b);
select count(*), sum(c), min(b), max(b), avg(a) from t;
select a % 1000, count(*), total(c) from t group by 1 having count(*) > 10 order by 3 limit 20;
select sum(c) from t where exists (select 1 from t u where u.a = t.a + 1 and u.b like '%A%');
select max(s) from (select sum(c) over (order by a rows 20 preceding) as s from t);
select count(*) from t x join t y on x.b = y.b where x.a % 3 = 0;
select b from t order by c % 997, b desc limit 10;
"""


def music(seconds=8, rate=44100):
    """Two channels of three gliding tones with noise and beats, as 16-bit samples."""
    rng = random.Random(3)
    samples = []
    for k in range(seconds * rate):
        t = k / rate
        glide = 2 * math.pi * (220 + 30 * math.sin(0.7 * t)) * t
        tone = math.sin(glide) + 0.5 * math.sin(2.5 * glide) + 0.3 * math.sin(7 * glide + t)
        beat = 0.5 * rng.uniform(-1, 1) * math.exp(-20 * (t % 0.5))
        samples += (int(9000 * (tone * 0.6 + beat)), int(9000 * (tone * 0.5 - beat)))
    return struct.pack(f"<{len(samples)}h", *samples)


def photo(width=480, height=320):
    """A tile of soft edges and grain; binary PPM rows of three bytes a pixel."""
    rng = random.Random(5)
    rows = []
    for y in range(height):
        row = bytearray()
        for x in range(width):
            light = 120 + 60 * math.sin(x / 31) * math.cos(y / 23) + (40 if (x // 60 + y // 40) % 2 else 0)
            grain = rng.uniform(-6, 6)
            row += bytes((int(light + grain), int(light * 0.8 + grain), int(200 - light * 0.5 + grain)))
        rows.append(bytes(row))
    return rows


def laplace(n):
    """(row, column, value) of the seven-point Laplacian of a cube, lower half."""
    for z in range(n):
        for y in range(n):
            for x in range(n):
                at = (z * n + y) * n + x
                yield at, at, 6.5
                for ahead, step in ((x, 1), (y, n), (z, n * n)):
                    if ahead + 1 < n:
                        yield at + step, at, -1.0


def digest():
    """Of this file and the programs beside it: what was made by others is made anew."""
    files = (pathlib.Path(__file__), *sorted(HERE.iterdir()))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def write(folder, small):
    """All inputs, in `folder`; `small`: those of inputs.py. What is there is kept."""
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / "done"
    if done.exists() and done.read_text() == digest():
        return folder
    (folder / "work.lua").write_text(LUA)
    (folder / "work.sql").write_text(SQL)
    (folder / "large.bin").write_bytes((small / "data.bin").read_bytes() * 25)
    (folder / "speech.raw").write_bytes((small / "speech.raw").read_bytes() * 100)
    samples = music() * 5
    (folder / "music.raw").write_bytes(samples)
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(samples), b"WAVE", b"fmt ", 16, 1, 2, 44100, 176400, 4, 16,
                       b"data", len(samples))
    (folder / "music.wav").write_bytes(head + samples)
    rows = photo()
    with open(folder / "photo.ppm", "wb") as file:
        file.write(b"P6\n%d %d\n255\n" % (len(rows[0]) // 3 * 6, len(rows) * 6))
        for row in rows * 6:
            file.write(row * 6)
    entries = list(laplace(22))
    (folder / "laplace.mtx").write_text("%%MatrixMarket matrix coordinate real symmetric\n"
                                        f"{22 ** 3} {22 ** 3} {len(entries)}\n" +
                                        "".join(f"{i + 1} {j + 1} {v}\n" for i, j, v in entries))
    # The upper half: what the demonstrations of CXSparse take for symmetric.
    (folder / "laplace.txt").write_text("".join(f"{j} {i} {v}\n" for i, j, v in laplace(18)))
    done.write_text(digest())
    return folder
