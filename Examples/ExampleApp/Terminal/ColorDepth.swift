/// The colours that a terminal can show.
enum ColorDepth: Sendable, CaseIterable {
    case none, ansi16, palette256, trueColor

    /// The depth that environment variables state: `NO_COLOR` (no-color.org), `COLORTERM` and `TERM`.
    init(environment: [String: String]) {
        let term = environment["TERM"] ?? ""
        if environment["NO_COLOR"].map({ !$0.isEmpty }) == true || term.isEmpty || term == "dumb" || term == "vt100" {
            self = .none
        } else if ["truecolor", "24bit"].contains(environment["COLORTERM"] ?? "") || term.hasSuffix("-direct")
            || term == "xterm-kitty"
        {
            self = .trueColor
        } else {
            self = term.contains("256color") ? .palette256 : .ansi16
        }
    }

    /// The escape sequence that selects a style (ECMA-48, 8.3.117), after a reset.
    func sequence(_ style: Style) -> String {
        var codes = ["0"]
        if style.isBold { codes.append("1") }
        if style.isDim { codes.append("2") }
        if style.isReversed { codes.append("7") }
        if let color = style.foreground { codes += parameters(color, isForeground: true) }
        if let color = style.background { codes += parameters(color, isForeground: false) }
        return "\u{1B}[\(codes.joined(separator: ";"))m"
    }

    private func parameters(_ color: Color, isForeground: Bool) -> [String] {
        switch self {
        case .none: return []
        case .trueColor: return [isForeground ? "38" : "48", "2", "\(color.red)", "\(color.green)", "\(color.blue)"]
        case .palette256: return [isForeground ? "38" : "48", "5", "\(color.paletteIndex)"]
        case .ansi16:
            let index = color.ansiIndex
            return ["\((isForeground ? 30 : 40) + (index < 8 ? index : index + 52))"]
        }
    }
}

extension Color {
    /// The steps of the colour cube in the palette of 256 colours.
    private static let steps = [0, 95, 135, 175, 215, 255]
    /// The 16 colours of xterm.
    private static let ansi: [Color] = [
        Color(0, 0, 0), Color(205, 0, 0), Color(0, 205, 0), Color(205, 205, 0), Color(0, 0, 238), Color(205, 0, 205),
        Color(0, 205, 205), Color(229, 229, 229), Color(127, 127, 127), Color(255, 0, 0), Color(0, 255, 0),
        Color(255, 255, 0), Color(92, 92, 255), Color(255, 0, 255), Color(0, 255, 255), Color(255, 255, 255),
    ]

    /// The nearest colour of the palette of 256: in its cube, or among its grays.
    var paletteIndex: Int {
        let cube = [red, green, blue].map { channel in
            Self.steps.indices.min { abs(Self.steps[$0] - Int(channel)) < abs(Self.steps[$1] - Int(channel)) } ?? 0
        }
        let inCube = Color(UInt8(Self.steps[cube[0]]), UInt8(Self.steps[cube[1]]), UInt8(Self.steps[cube[2]]))
        let shade = min(23, max(0, ((Int(red) + Int(green) + Int(blue)) / 3 - 3) / 10))
        let level = UInt8(8 + 10 * shade)
        let isGrayNearer = distance(to: Color(level, level, level)) < distance(to: inCube)
        return isGrayNearer ? 232 + shade : 16 + 36 * cube[0] + 6 * cube[1] + cube[2]
    }

    /// The nearest of the 16 colours.
    var ansiIndex: Int {
        Self.ansi.indices.min { distance(to: Self.ansi[$0]) < distance(to: Self.ansi[$1]) } ?? 0
    }

    private func distance(to other: Color) -> Int {
        let differences = [(red, other.red), (green, other.green), (blue, other.blue)].map { Int($0) - Int($1) }
        return differences.reduce(0) { $0 + $1 * $1 }
    }
}
