import FoundationEssentials
import LinnetImageSerialization

/// Pictures that are made from names: a symmetric pattern of 6 x 6 fields.
enum SampleAvatar {
    static let fields = 6
    private static let fieldSize = 16

    /// Returns the picture of a name, with 96 x 96 pixels.
    static func picture(_ name: String) -> Bitmap? {
        // FNV-1a, which is the same in each run.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        let color = [24, 32, 40].map { UInt8(40 + (hash >> $0 & 0xFF) % 160) } + [255]
        let side = fields * fieldSize
        var pixels: [UInt8] = []
        for y in 0..<side {
            for x in 0..<side {
                let column = min(x / fieldSize, fields - 1 - x / fieldSize)
                let isSet = hash >> UInt64(y / fieldSize * (fields / 2) + column) & 1 == 1
                pixels += isSet ? color : [238, 238, 238, 255]
            }
        }
        return Bitmap(width: side, height: side, pixels: pixels)
    }
}
