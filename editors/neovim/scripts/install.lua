-- Downloads the server program of a release to `bin` in this plugin, after checking its SHA-256. Needs curl and tar.
--
--   nvim -l scripts/install.lua
--
-- The release is that of the tag that is checked out, or else the latest one of the repository on GitHub that the plugin was cloned
-- from. The environment variable STRATA_RELEASE names another address of a directory with archives.

local script = debug.getinfo(1, "S").source:sub(2)
local plugin = vim.fs.normalize(vim.fn.fnamemodify(vim.fn.resolve(script), ":p:h:h"))

-- The archive for each system and processor (`uname`).
local TARGETS = {
  ["Linux x86_64"] = "x86_64-unknown-linux-musl",
  ["Linux aarch64"] = "aarch64-unknown-linux-gnu",
  ["Darwin arm64"] = "aarch64-apple-darwin",
  ["Darwin x86_64"] = "x86_64-apple-darwin",
  ["Windows_NT x86_64"] = "x86_64-pc-windows-msvc",
}

---Runs a command and returns its output. Throws its error.
local function run(...)
  local command = { ... }
  local ok, ended = pcall(function()
    return vim.system(command, { cwd = plugin, text = true }):wait()
  end)
  if not ok then
    error(("`%s` cannot be started"):format(command[1]), 0)
  end
  if ended.code ~= 0 then
    error(("`%s` failed: %s"):format(table.concat(command, " "), vim.trim(ended.stderr)), 0)
  end
  return vim.trim(ended.stdout)
end

---Returns the address of the directory with the archives of the release.
local function release()
  if vim.env.STRATA_RELEASE then
    return vim.env.STRATA_RELEASE
  end
  local remote = run("git", "remote", "get-url", "origin")
  local repository = remote:match("github%.com[:/](.+)$")
  if not repository then
    error(("%s is not a repository on GitHub; set STRATA_RELEASE"):format(remote), 0)
  end
  local address = ("https://github.com/%s/releases/"):format((repository:gsub("%.git$", "")))
  local is_tagged, tag = pcall(run, "git", "describe", "--tags", "--exact-match", "--match", "v*")
  return address .. (is_tagged and "download/" .. tag or "latest/download")
end

---Returns the SHA-256 of a file.
local function checksum(file)
  local commands = {
    { "sha256sum", file },
    { "shasum", "--algorithm", "256", file },
    { "certutil", "-hashfile", file, "SHA256" },
  }
  for _, command in ipairs(commands) do
    if vim.fn.executable(command[1]) == 1 then
      -- certutil prints the checksum on the second line.
      return run(unpack(command)):match(("%x"):rep(64))
    end
  end
  error("none of sha256sum, shasum and certutil is installed", 0)
end

local function install()
  local uname = vim.uv.os_uname()
  local system = uname.sysname:find("^Windows") and "Windows_NT" or uname.sysname
  local target = TARGETS[system .. " " .. uname.machine]
  if not target then
    error(("there is no program for %s on %s"):format(uname.sysname, uname.machine), 0)
  end
  local is_windows = system == "Windows_NT"
  local name = "strata-" .. target
  local archive = name .. (is_windows and ".zip" or ".tar.gz")
  local address = release() .. "/" .. archive
  local place = vim.fn.tempname()
  vim.fn.mkdir(place, "p")
  local function download(from, to)
    run("curl", "--fail", "--location", "--silent", "--show-error", "--output", place .. "/" .. to, from)
  end
  download(address .. ".sha256", "sums")
  download(address, archive)
  local expected = vim.fn.readfile(place .. "/sums")[1]:match("^%x+")
  if checksum(place .. "/" .. archive) ~= expected then
    error(("the SHA-256 of %s is not %s"):format(address, expected), 0)
  end
  run("tar", "-xf", place .. "/" .. archive, "-C", place)
  local program = is_windows and "strata.exe" or "strata"
  vim.fn.mkdir(plugin .. "/bin", "p")
  -- A running program cannot be overwritten, but the new one can take its name.
  local new = plugin .. "/bin/new-" .. program
  assert(vim.uv.fs_copyfile(("%s/%s/%s"):format(place, name, program), new))
  assert(vim.uv.fs_rename(new, plugin .. "/bin/" .. program))
  vim.fn.delete(place, "rf")
  print(run(plugin .. "/bin/" .. program, "--version") .. " from " .. address)
end

install()
