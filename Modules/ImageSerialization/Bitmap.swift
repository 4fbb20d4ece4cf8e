/// A decoded image: eight bits each of red, green, blue and alpha, not premultiplied, row by row from the top left.
public struct Bitmap: Sendable, Hashable {
    /// The number of pixels in a row.
    public let width: Int
    /// The number of rows.
    public let height: Int
    /// Four bytes a pixel, without padding between rows.
    public let pixels: [UInt8]

    /// Creates a bitmap; nil unless there are exactly four bytes a pixel, and at least one pixel.
    public init?(width: Int, height: Int, pixels: [UInt8]) {
        guard width > 0, height > 0 else { return nil }
        let (area, overflowed) = width.multipliedReportingOverflow(by: height)
        let (size, overflowedToo) = area.multipliedReportingOverflow(by: 4)
        guard !overflowed, !overflowedToo, pixels.count == size else { return nil }
        self.width = width
        self.height = height
        self.pixels = pixels
    }
}
