/// Styles text for a terminal (ECMA-48, 8.3.117), with the palette of 256 colours or without colours.
struct TextStyle: Sendable {
    enum Attribute: Int {
        case bold = 1
        case dim = 2
        case reversed = 7
    }

    /// The places of colours in the palette.
    static let accent = 75
    static let error = 203

    let hasColors: Bool

    /// Creates a style for a terminal with these environment variables (no-color.org).
    init(environment: [String: String]) { hasColors = environment["NO_COLOR"] ?? "" == "" }

    /// The text between the escape sequences that select its style and reset it. Nil is the terminal's own colour.
    func text(_ text: String, _ attribute: Attribute? = nil, color: Int? = nil, on background: Int? = nil) -> String {
        var codes = attribute.map { ["\($0.rawValue)"] } ?? []
        if hasColors, let color { codes.append("38;5;\(color)") }
        if hasColors, let background { codes.append("48;5;\(background)") }
        return codes.isEmpty ? text : "\u{1B}[\(codes.joined(separator: ";"))m\(text)\u{1B}[0m"
    }

    /// The place of the nearest colour in the palette's cube.
    static func color(red: UInt8, green: UInt8, blue: UInt8) -> Int {
        func step(_ channel: UInt8) -> Int { channel < 48 ? 0 : channel < 115 ? 1 : (Int(channel) - 35) / 40 }
        return 16 + 36 * step(red) + 6 * step(green) + step(blue)
    }
}
