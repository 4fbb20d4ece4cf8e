/// The keys in the bytes of a terminal.
///
/// A sequence that arrives in pieces is several keys, and none of them has a meaning in this app.
enum Keys {
    /// The names of control sequences (ECMA-48, 5.4) without ESC.
    private static let names = [
        "": "escape", "[A": "up", "OA": "up", "[B": "down", "OB": "down", "[5~": "page up", "[6~": "page down",
        "[H": "home", "OH": "home", "[1~": "home", "[F": "end", "OF": "end", "[4~": "end",
    ]

    /// Returns a name such as `page up` for each control sequence, and each other character as it is. Sequences without
    /// a name are omitted.
    static func names(in text: String) -> [String] {
        text.matches(of: /\u{1B}(?<sequence>\[[0-9;?]*.|O.)?|./).compactMap { match in
            match.output.0.first == "\u{1B}" ? names[String(match.output.sequence ?? "")] : String(match.output.0)
        }
    }
}
