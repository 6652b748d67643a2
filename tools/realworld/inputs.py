"""Inputs of our own for projects that bring no tests: made here, the same bytes every time."""
import math
import random
import struct

LUA = {
    "sort": """\
local seed = 42
local function random() seed = (seed * 1103515245 + 12345) % 2147483648 return seed end
local t = {}
for i = 1, 20000 do t[i] = random() % 10007 end
table.sort(t)
local sum = 0
for i = 1, #t do assert(i == 1 or t[i - 1] <= t[i]) sum = (sum * 31 + t[i]) % 1000000007 end
print(sum)
table.sort(t, function(a, b) return a > b end)
print(t[1], t[#t], #t)
""",
    "strings": """\
local parts = {}
for i = 1, 3000 do parts[#parts + 1] = string.format("%d:%x:%5.3f:%s", i, i * 7, i / 3, ("ab"):rep(i % 5)) end
local text = table.concat(parts, ",")
print(#text, text:sub(1, 80))
local count = 0
for word in text:gmatch("%x+:") do count = count + #word end
print(count, (text:gsub("ab", "x")):sub(-60), text:find("1000:", 1, true), text:rep(2):len())
print(string.pack("<i4d", 7, 2.5):byte(1, -1))
print(("x"):rep(100, "-"):reverse():upper():sub(1, 20), utf8.char(228, 8364, 128512), utf8.len("äöü"))
""",
    "objects": """\
local Account = {} Account.__index = Account
function Account.new(b) return setmetatable({balance = b}, Account) end
function Account:deposit(v) self.balance = self.balance + v end
local all = setmetatable({}, {__mode = "k"})
local total = 0
for i = 1, 5000 do
  local a = Account.new(i) a:deposit(i * 0.5) all[a] = i total = total + a.balance
  if i % 500 == 0 then collectgarbage() end
end
print(total)
local co = coroutine.wrap(function() for i = 1, 10 do coroutine.yield(i * i) end return "done" end)
for _ = 1, 11 do io.write(tostring(co()), " ") end
print(pcall(error, {code = 3}), select("#", table.unpack({1, nil, 3}, 1, 3)), 7 // 2, -7 // 2, -7 % 3, 7.5 // 2, 1 << 62)
local q = {} for i = 1, 8 do q[i] = 0 end
local solutions = 0
local function place(row)
  if row > 8 then solutions = solutions + 1 return end
  for c = 1, 8 do
    local ok = true
    for r = 1, row - 1 do if q[r] == c or math.abs(q[r] - c) == row - r then ok = false break end end
    if ok then q[row] = c place(row + 1) end
  end
end
place(1) print(solutions)
print(math.floor(3.7), math.maxinteger, math.mininteger, math.tointeger(3.0), 10 / 2, 2^53, 0x7fp-3, 1e308 * 10)
""",
}

SQL = """\
create table t(a integer primary key, b text, c real);
with recursive n(x) as (select 1 union all select x + 1 from n where x < 5000)
insert into t select x, printf('%05d-%s', (x * 7919) % 5000, hex(x)), x * 1.25 from n;
create index tb on t(b);
select count(*), sum(c), min(b), max(b), avg(a) from t;
select b from t where b like '01%' order by b desc limit 20;
select a % 10, count(*), total(c) from t group by 1 having count(*) > 10 order by 1;
update t set c = c * 2 where a % 3 = 0;
delete from t where a between 1000 and 1100;
select sum(c), count(*) from t where exists (select 1 from t u where u.a = t.a + 1);
select a, row_number() over (order by c desc), sum(c) over (order by a rows 2 preceding) from t limit 10;
create virtual table f using fts5(body);
insert into f select group_concat(b, ' ') from t group by a / 50;
select count(*) from f where f match '01*';
create virtual table r using rtree(id, x0, x1, y0, y1);
insert into r select a, a, a + 5, c, c + 3 from t;
select count(*) from r where x0 > 100 and x1 < 400 and y0 < 900;
select json_group_array(json_object('a', a, 'b', b)) from (select * from t limit 5);
select hex(zeroblob(4)), round(3.14159, 3), 7 / 2, -7 / 2, -7 % 3, 1e300 * 1e10, quote(x'0102'), abs(-9223372036854775807);
pragma integrity_check;
"""


def speech(seconds=4, rate=8000):
    """Two gliding tones, their harmonics and some noise, as 16-bit samples: what a codec has to work for."""
    rng = random.Random(7)
    samples = []
    for k in range(seconds * rate):
        t = k / rate
        value = sum(math.sin(2 * math.pi * h * (180 + 60 * math.sin(t)) * t) / h for h in (1, 2, 3, 5))
        value = value * (0.6 + 0.4 * math.sin(5 * t)) + 0.1 * rng.gauss(0, 1)
        samples.append(max(-32000, min(32000, int(8000 * value))))
    return struct.pack(f"<{len(samples)}h", *samples)


def data(size=600_000):
    """Text with repetitions, then runs, then noise."""
    rng = random.Random(11)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(400)]
    text = " ".join(rng.choices(words, k=size // 10)).encode()[:size // 2]
    runs = b"".join(bytes([rng.randrange(256)]) * rng.randint(1, 300) for _ in range(1000))[:size // 4]
    return text + runs + rng.randbytes(size - len(text) - len(runs))


def write(folder):
    """All inputs, in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in LUA.items():
        (folder / f"{name}.lua").write_text(text)
    (folder / "queries.sql").write_text(SQL)
    (folder / "speech.raw").write_bytes(speech())
    (folder / "data.bin").write_bytes(data())
    return folder
