{
  description = "Language server and command-line tool that manages what a language model sees";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs = { self, nixpkgs }:
    let
      version = "@VERSION@";
      # The archive of the release for each system, and its SHA-256.
      archives = {
        x86_64-linux = { target = "x86_64-unknown-linux-musl"; sha256 = "@SHA256 x86_64-unknown-linux-musl@"; };
        aarch64-linux = { target = "aarch64-unknown-linux-gnu"; sha256 = "@SHA256 aarch64-unknown-linux-gnu@"; };
        x86_64-darwin = { target = "x86_64-apple-darwin"; sha256 = "@SHA256 x86_64-apple-darwin@"; };
        aarch64-darwin = { target = "aarch64-apple-darwin"; sha256 = "@SHA256 aarch64-apple-darwin@"; };
      };
      strata = system: { target, sha256 }:
        let
          pkgs = nixpkgs.legacyPackages.${system};
          # The program for glibc looks for it where NixOS has nothing.
          dynamic = pkgs.lib.hasSuffix "-linux-gnu" target;
        in
        pkgs.stdenv.mkDerivation {
          pname = "strata-context";
          inherit version;
          src = pkgs.fetchurl {
            url = "https://github.com/@REPOSITORY@/releases/download/v${version}/strata-${target}.tar.gz";
            inherit sha256;
          };
          nativeBuildInputs = [ pkgs.installShellFiles ] ++ pkgs.lib.optional dynamic pkgs.autoPatchelfHook;
          buildInputs = pkgs.lib.optional dynamic pkgs.stdenv.cc.cc.lib;
          dontStrip = true;
          installPhase = ''
            runHook preInstall
            install -Dm755 strata -t $out/bin
            install -Dm644 LICENSE-* THIRD-PARTY-NOTICES.txt -t $out/share/licenses/strata-context
            installManPage man/*
            installShellCompletion --cmd strata \
              --bash completions/strata.bash --zsh completions/_strata --fish completions/strata.fish
            runHook postInstall
          '';
          meta = {
            description = "Language server and command-line tool that manages what a language model sees";
            homepage = "https://github.com/@REPOSITORY@";
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "strata";
            platforms = [ system ];
            sourceProvenance = [ pkgs.lib.sourceTypes.binaryNativeCode ];
          };
        };
    in
    {
      packages = builtins.mapAttrs (system: archive: { default = strata system archive; }) archives;
    };
}
