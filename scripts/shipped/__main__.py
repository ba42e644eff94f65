"""Write the official files of every shipped task."""

from scripts.shipped import SHIPPED


def main() -> None:
    for task in SHIPPED:
        for path, text in task.files().items():
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
                print(f"wrote {path}")


if __name__ == "__main__":
    main()
