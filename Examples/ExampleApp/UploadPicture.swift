import FoundationEssentials
import LinnetImageSerialization

/// Makes a picture to upload: a BMP file of several megabytes, so that its progress can be seen.
enum UploadPicture {
    /// The side of a field that each pixel becomes.
    static let scale = 12

    /// Returns the enlarged picture as an uncompressed bitmap with 24 bits per pixel, rows from the bottom.
    static func file(_ picture: Bitmap) -> Data {
        let width = picture.width * scale
        let height = picture.height * scale
        let padding = [UInt8](repeating: 0, count: (4 - width * 3 % 4) % 4)
        let size = (width * 3 + padding.count) * height
        var data = Data("BM".utf8)
        for value in [54 + size, 0, 54, 40, width, height, 1 | 24 << 16, 0, size, 2835, 2835, 0, 0] {
            data.append(contentsOf: (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) })
        }
        for y in (0..<picture.height).reversed() {
            var row: [UInt8] = []
            row.reserveCapacity(width * 3)
            for x in 0..<picture.width {
                let place = (y * picture.width + x) * 4
                let pixel = [picture.pixels[place + 2], picture.pixels[place + 1], picture.pixels[place]]
                for _ in 0..<scale { row += pixel }
            }
            row += padding
            for _ in 0..<scale { data.append(contentsOf: row) }
        }
        return data
    }
}
