public import FoundationEssentials

/// The header of an image, read without decoding it.
public struct ImageInfo: Sendable, Hashable {
    /// The format.
    public let format: ImageFormat
    /// The width in pixels, before the orientation is applied.
    public let width: Int
    /// The height in pixels, before the orientation is applied.
    public let height: Int
    /// The EXIF orientation, from 1 (upright) to 8.
    public var orientation = 1
    /// The number of frames or pages, at least 1.
    public var frameCount = 1
    /// The minimum number of bytes that the decoder allocates for the first frame.
    var decodedBytes: Int

    /// Reads the header of an image.
    ///
    /// - Throws: ``ImageError`` with ``ImageError/Code/unknownFormat``, or with ``ImageError/Code/malformed`` if the
    ///   header is damaged or incomplete.
    public init(of data: Data) throws(ImageError) {
        guard let format = ImageFormat(sniffing: data) else {
            throw ImageError(code: .unknownFormat, message: "The bytes are not an image of a known format.")
        }
        guard let info = ImageInfo(data, format: format) else {
            throw ImageError(code: .malformed, message: "The header of the \(format) image is damaged or incomplete.")
        }
        self = info
    }

    init?(_ data: Data, format: ImageFormat) {
        let bytes = ImageBytes(data)
        let info: ImageInfo? =
            switch format {
            case .png: Self.png(bytes)
            case .jpeg: Self.jpeg(bytes)
            case .gif: Self.gif(bytes)
            case .bmp: Self.bmp(bytes)
            case .ico: Self.ico(bytes)
            case .tiff: Self.tiff(bytes)
            case .webp: Self.webp(bytes)
            default: nil
            }
        guard let info, info.width > 0, info.height > 0 else { return nil }
        self = info
    }

    init(_ format: ImageFormat, width: Int, height: Int, orientation: Int = 1, frameCount: Int = 1) {
        self.format = format
        self.width = width
        self.height = height
        self.orientation = (1...8).contains(orientation) ? orientation : 1
        self.frameCount = max(frameCount, 1)
        decodedBytes = width.product(height).product(4)
    }
}

/// Reads numbers at offsets that may be out of range.
struct ImageBytes {
    private let data: Data

    init(_ data: Data) { self.data = data }

    var count: Int { data.count }

    func byte(_ offset: Int) -> Int? {
        offset >= 0 && offset < data.count ? Int(data[data.startIndex + offset]) : nil
    }

    /// A little-endian number of `size` bytes.
    func little(_ offset: Int, _ size: Int) -> Int? {
        guard offset >= 0, offset <= data.count - size else { return nil }
        return (0..<size).reduce(0) { $0 | Int(data[data.startIndex + offset + $1]) << (8 * $1) }
    }

    /// A big-endian number of `size` bytes.
    func big(_ offset: Int, _ size: Int) -> Int? {
        guard offset >= 0, offset <= data.count - size else { return nil }
        return (0..<size).reduce(0) { $0 << 8 | Int(data[data.startIndex + offset + $1]) }
    }

    /// A range of bytes.
    func part(_ offset: Int, _ size: Int) -> Data? {
        guard offset >= 0, size >= 0, offset <= data.count - size else { return nil }
        return data[(data.startIndex + offset)..<(data.startIndex + offset + size)]
    }

    /// The bytes of some ranges, which are in the file. A single range is not copied.
    func joined(_ ranges: [Range<Int>]) -> Data {
        if ranges.count == 1, let range = ranges.first { return part(range.lowerBound, range.count) ?? Data() }
        var copy = Data(capacity: ranges.reduce(0) { $0 + $1.count })
        for range in ranges { copy += part(range.lowerBound, range.count) ?? Data() }
        return copy
    }

    func has(_ text: String, at offset: Int) -> Bool {
        guard offset >= 0, offset <= data.count - text.utf8.count else { return false }
        let start = data.startIndex + offset
        return data[start..<(start + text.utf8.count)].elementsEqual(text.utf8)
    }
}

extension Int {
    /// The product of two nonnegative numbers, saturated at the maximum.
    func product(_ other: Int) -> Int {
        let (product, overflowed) = multipliedReportingOverflow(by: other)
        return overflowed ? .max : product
    }
}
