{
  description = "Sojourn, a latency-under-load laboratory for access networks";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = each (pkgs: {
        default = pkgs.python3Packages.buildPythonApplication {
          pname = "sojourn";
          version = "0.2.0";
          pyproject = true;
          src = self;
          cargoDeps = pkgs.rustPlatform.importCargoLock { lockFile = ./Cargo.lock; };
          nativeBuildInputs = with pkgs.rustPlatform; [ cargoSetupHook maturinBuildHook ];
          dependencies = with pkgs.python3Packages; [
            jinja2
            markdown-it-py
            matplotlib
            numpy
            platformdirs
            polars
            pydantic
            rich
            scipy
            shtab
            tomli-w
          ];
          pythonImportsCheck = [ "sojourn" ];
        };
      });

      devShells = each (pkgs: {
        default = pkgs.mkShell { packages = with pkgs; [ cargo rustc gnumake python3 nodejs ]; };
      });
    };
}
