extension Bitmap {
    /// The place of an image on a larger canvas.
    struct Placement: Sendable, Hashable {
        let x: Int
        let y: Int
        /// The size of the canvas.
        let width: Int
        let height: Int
    }

    /// The bitmap on a transparent canvas, which crops pixels outside of it.
    func placed(_ placement: Placement) -> Bitmap {
        var canvas = [UInt8](repeating: 0, count: placement.width * placement.height * 4)
        let visible = max(0, min(width, placement.width - placement.x)) * 4
        for y in 0..<max(0, min(height, placement.height - placement.y)) {
            let start = ((placement.y + y) * placement.width + placement.x) * 4
            canvas.replaceSubrange(start..<(start + visible), with: pixels[(y * width * 4)...].prefix(visible))
        }
        return Bitmap(width: placement.width, height: placement.height, pixels: canvas) ?? self
    }

    /// The bitmap with colors that are not multiplied with alpha, if they were.
    var withoutPremultiplication: Bitmap {
        var pixels = pixels
        pixels.withUnsafeMutableBufferPointer { pixels in
            for start in stride(from: 0, to: pixels.count, by: 4) where pixels[start + 3] < 255 {
                let alpha = Int(pixels[start + 3])
                for place in start..<(start + 3) where alpha > 0 {
                    pixels[place] = UInt8(min(255, (Int(pixels[place]) * 255 + alpha / 2) / alpha))
                }
            }
        }
        return Bitmap(width: width, height: height, pixels: pixels) ?? self
    }
}
