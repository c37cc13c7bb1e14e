# Homebrew on Linux; untested. Put the source archive where `url` says.
class Seekwell < Formula
  desc "Know why a disk is slow, prove what makes it faster, keep only what helped"
  url "file:///tmp/seekwell-0.1.0.tar.gz"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on "rust" => :build
  depends_on :linux

  def install
    system "cargo", "build", "--locked", "--profile", "dist", "--package", "seekwell"
    bin.install "target/dist/seekwell"
    system "cargo", "xtask", "dist"
    man1.install Dir["dist/man/*.1"]
    bash_completion.install "dist/completions/seekwell.bash" => "seekwell"
    zsh_completion.install "dist/completions/_seekwell"
    fish_completion.install "dist/completions/seekwell.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/seekwell --version")
  end
end
