public import LinnetSerialization

extension Bitmap: DecodedImage {
    /// The size of the pixels in bytes.
    public var byteCount: Int { pixels.count }
}

extension Bitmap {
    /// The bitmap with rounded corners. The pixels beyond them become transparent.
    ///
    /// - Parameter radius: The radius in pixels, at most half of the shorter side. The default makes a circle of a
    ///   square.
    public func rounded(radius: Int = .max) -> Bitmap {
        let radius = min(max(radius, 0), min(width, height) / 2)
        guard radius > 0 else { return self }
        var pixels = pixels
        for y in 0..<radius {
            for x in 0..<radius {
                let coverage = Self.coverage(x: x, y: y, radius: radius)
                guard coverage < 255 else { continue }
                for (column, row) in [
                    (x, y), (width - 1 - x, y), (x, height - 1 - y), (width - 1 - x, height - 1 - y),
                ] {
                    let alpha = (row * width + column) * 4 + 3
                    pixels[alpha] = UInt8(Int(pixels[alpha]) * coverage / 255)
                }
            }
        }
        return Bitmap(width: width, height: height, pixels: pixels) ?? self
    }

    /// How much of the pixel at a corner is inside the quarter of a circle, from 0 to 255.
    private static func coverage(x: Int, y: Int, radius: Int) -> Int {
        let (across, down) = (Double(radius - x) - 0.5, Double(radius - y) - 0.5)
        let distance = (across * across + down * down).squareRoot()
        return Int(min(1, max(0, Double(radius) - distance + 0.5)) * 255)
    }
}

extension ImageProcessor where Image == Bitmap {
    /// Scales a bitmap down in proportion if its longer side exceeds a limit in pixels.
    public static func scaled(toFit limit: Int) -> Self {
        Self("scaled(toFit: \(limit))", maximumDimension: limit) { try $0.scaled(toFit: limit) }
    }

    /// Rounds the corners of a bitmap. The default radius makes a circle of a square.
    public static func rounded(radius: Int = .max) -> Self {
        Self("rounded(radius: \(radius))") { $0.rounded(radius: radius) }
    }
}
