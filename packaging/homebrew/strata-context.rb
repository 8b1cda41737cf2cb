class StrataContext < Formula
  desc "Language server that manages what a language model sees"
  homepage "https://github.com/@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "https://github.com/@REPOSITORY@/releases/download/v@VERSION@/strata-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256 aarch64-apple-darwin@"
    end
    on_intel do
      url "https://github.com/@REPOSITORY@/releases/download/v@VERSION@/strata-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256 x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/@REPOSITORY@/releases/download/v@VERSION@/strata-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "@SHA256 aarch64-unknown-linux-gnu@"
    end
    on_intel do
      url "https://github.com/@REPOSITORY@/releases/download/v@VERSION@/strata-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256 x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "strata"
    man1.install Dir["man/*"]
    bash_completion.install "completions/strata.bash" => "strata"
    zsh_completion.install "completions/_strata"
    fish_completion.install "completions/strata.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/strata --version")
  end
end
