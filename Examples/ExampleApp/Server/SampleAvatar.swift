import FoundationEssentials
import LinnetImageSerialization

/// Pictures that are made from names: a symmetric pattern of 6 x 6 fields.
enum SampleAvatar {
    static let fields = 6
    private static let fieldSize = 16

    /// Returns the picture of a name, with 96 x 96 pixels.
    static func picture(_ name: String) -> Bitmap? {
        var bits = hash(name)
        let color = color(hue: Double(bits % 360))
        bits /= 360
        let side = fields * fieldSize
        var pixels = [UInt8](repeating: 255, count: side * side * 4)
        for y in 0..<side {
            for x in 0..<side {
                let field = (x / fieldSize, y / fieldSize)
                let column = min(field.0, fields - 1 - field.0)
                let isSet = bits >> UInt64(field.1 * (fields / 2) + column) & 1 == 1
                let shown = isSet ? color : Color(236, 236, 228)
                let place = (y * side + x) * 4
                (pixels[place], pixels[place + 1], pixels[place + 2]) = (shown.red, shown.green, shown.blue)
            }
        }
        return Bitmap(width: side, height: side, pixels: pixels)
    }

    /// FNV-1a, which is the same in each run.
    private static func hash(_ name: String) -> UInt64 {
        name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }

    /// A colour of medium brightness with a hue in degrees.
    private static func color(hue: Double) -> Color {
        func channel(_ offset: Double) -> UInt8 {
            let k = (offset + hue / 30).truncatingRemainder(dividingBy: 12)
            return UInt8(255 * (0.45 - 0.30 * max(-1, min(k - 3, 9 - k, 1))))
        }
        return Color(channel(0), channel(8), channel(4))
    }
}
