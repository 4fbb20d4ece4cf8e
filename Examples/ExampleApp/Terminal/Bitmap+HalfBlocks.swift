import LinnetImageSerialization

extension Bitmap {
    /// The picture as lines of a number of characters, two pixels in each: the upper half has the text's colour, the
    /// lower half the background's.
    func halfBlocks(columns: Int, style: TextStyle) -> [String] {
        guard let small = try? scaled(toFit: columns) else { return [] }
        return stride(from: 0, to: small.height - 1, by: 2).map { y in
            (0..<small.width).map { style.text("▀", color: small.color($0, y), on: small.color($0, y + 1)) }.joined()
        }
    }

    private func color(_ x: Int, _ y: Int) -> Int {
        let place = (y * width + x) * 4
        return TextStyle.color(red: pixels[place], green: pixels[place + 1], blue: pixels[place + 2])
    }
}
