/// A colour with eight bits per channel.
struct Color: Hashable, Sendable {
    var red: UInt8
    var green: UInt8
    var blue: UInt8

    init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
    }
}

/// How a character is drawn. Nil is the terminal's own colour.
struct Style: Hashable, Sendable {
    static let plain = Style()

    var foreground: Color?
    var background: Color?
    var isBold = false
    var isDim = false
    var isReversed = false
}
