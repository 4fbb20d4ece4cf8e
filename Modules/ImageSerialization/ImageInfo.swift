public import FoundationEssentials

/// What an image says of itself in its header. Nothing is decoded for it.
public struct ImageInfo: Sendable, Hashable {
    /// The format.
    public let format: ImageFormat
    /// The number of pixels in a row, before the orientation is applied.
    public let width: Int
    /// The number of rows, before the orientation is applied.
    public let height: Int
    /// EXIF's orientation, from 1 (upright) to 8.
    public var orientation = 1
    /// The number of frames or pages, at least 1.
    public var frameCount = 1
    /// How many bytes the decoder takes for the first frame at once, at least.
    var decodedBytes: Int

    /// Reads an image's header.
    ///
    /// - Throws: ``ImageError`` with ``ImageError/Code/unknownFormat``, or ``ImageError/Code/malformed`` when the
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

/// Numbers at places that may be beyond the end.
struct ImageBytes {
    private let data: Data

    init(_ data: Data) { self.data = data }

    var count: Int { data.count }

    func byte(_ offset: Int) -> Int? {
        offset >= 0 && offset < data.count ? Int(data[data.startIndex + offset]) : nil
    }

    /// A number of `size` bytes, the last of them highest.
    func little(_ offset: Int, _ size: Int) -> Int? {
        guard offset >= 0, offset <= data.count - size else { return nil }
        return (0..<size).reduce(0) { $0 | Int(data[data.startIndex + offset + $1]) << (8 * $1) }
    }

    /// A number of `size` bytes, the first of them highest.
    func big(_ offset: Int, _ size: Int) -> Int? {
        guard offset >= 0, offset <= data.count - size else { return nil }
        return (0..<size).reduce(0) { $0 << 8 | Int(data[data.startIndex + offset + $1]) }
    }

    /// So many bytes from an offset.
    func part(_ offset: Int, _ size: Int) -> Data? {
        guard offset >= 0, size >= 0, offset <= data.count - size else { return nil }
        return data[(data.startIndex + offset)..<(data.startIndex + offset + size)]
    }

    func has(_ text: String, at offset: Int) -> Bool {
        guard offset >= 0, offset <= data.count - text.utf8.count else { return false }
        let start = data.startIndex + offset
        return data[start..<(start + text.utf8.count)].elementsEqual(text.utf8)
    }
}

extension Int {
    /// The product of two numbers of zero or more, or the highest number if it is beyond that.
    func product(_ other: Int) -> Int {
        let (product, overflowed) = multipliedReportingOverflow(by: other)
        return overflowed ? .max : product
    }
}
