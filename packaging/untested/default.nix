# Nix; untested: nix-build packaging/untested
{ pkgs ? import <nixpkgs> { } }:

pkgs.rustPlatform.buildRustPackage {
  pname = "seekwell";
  version = "0.1.0";
  src = ../..;
  cargoLock.lockFile = ../../Cargo.lock;
  buildType = "dist";
  cargoBuildFlags = [ "--package" "seekwell" ];
  # The tests want devices, fio and a browser: `make test` runs them.
  doCheck = false;
  nativeBuildInputs = [ pkgs.installShellFiles ];
  postInstall = ''
    cargo xtask dist --out generated
    installManPage generated/man/*.1
    installShellCompletion --bash generated/completions/seekwell.bash \
      --zsh generated/completions/_seekwell --fish generated/completions/seekwell.fish
  '';
  meta = {
    description = "Know why a disk is slow, prove what makes it faster, keep only what helped";
    license = with pkgs.lib.licenses; [ mit asl20 ];
    platforms = pkgs.lib.platforms.linux;
  };
}
