internal import FoundationEssentials

#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// The segments of a JPEG that its pixels depend on (ITU T.81, annex B).
struct JPEGSegments {
    /// The marker of the frame; nil without a frame.
    private(set) var frame: UInt8?
    private(set) var width = 0
    private(set) var height = 0
    private(set) var scans = 0
    /// Whether the end was found. The only scan of a frame ends by any marker.
    private(set) var isComplete = false
    /// A file of the segments: tables, restart intervals, the frame, the scans with their data, and the two application
    /// segments that tell how colors are encoded, JFIF's and Adobe's.
    private(set) var file: FilePieces
    private var components: UInt8 = 0

    /// Encoders make about ten scans.
    static let maximumScans = 64

    /// Reads the segments up to the end, an unknown marker or one scan more than allowed.
    ///
    /// Bytes between segments are skipped, as libjpeg does: 0xFF before 0x00 or a restart marker belongs to a scan's
    /// data.
    init(_ data: Data) {
        file = FilePieces(of: data)
        file.append(copying: [0xFF, 0xD8])
        data.withUnsafeBytes { bytes in
            var offset = 2
            while !isComplete, scans <= Self.maximumScans, let next = read(bytes, at: offset) { offset = next }
        }
        file.append(copying: [0xFF, 0xD9])
    }

    var isProgressive: Bool { frame == 0xC2 || frame == 0xCA }

    /// Reads one segment, with the data of a scan.
    ///
    /// - Returns: The offset after it; nil at the end.
    private mutating func read(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int? {
        guard let start = Self.marker(in: bytes, from: offset) else { return nil }
        let marker = bytes[start + 1]
        if marker == 0xD9 {
            isComplete = true
            return nil
        }
        guard marker >= 0xC0, marker != 0xD8, start + 3 < bytes.count else { return nil }
        let length = Int(bytes[start + 2]) << 8 | Int(bytes[start + 3])
        let end = start + 2 + length
        guard length >= 2, end <= bytes.count else { return nil }
        let segment = start..<end
        switch marker {
        case 0xC4, 0xCC, 0xDB, 0xDD: file.append(segment)
        case 0xC0...0xCF:
            // A frame's header without its fields has no size to check.
            guard segment.count >= 10 else { return nil }
            readFrame(bytes, segment)
        case 0xDA: return readScan(bytes, segment)
        case 0xE0: keep(bytes, segment, named: "JFIF\0", size: 14)
        case 0xEE: keep(bytes, segment, named: "Adobe", size: 12)
        case 0xDC, 0xE1...0xEF, 0xFE: break
        default: return nil
        }
        return end
    }

    private mutating func readFrame(_ bytes: UnsafeRawBufferPointer, _ segment: Range<Int>) {
        file.append(segment)
        // libjpeg refuses a second one.
        guard frame == nil else { return }
        let header = UnsafeRawBufferPointer(rebasing: bytes[segment])
        frame = header[1]
        height = Int(header[5]) << 8 | Int(header[6])
        width = Int(header[7]) << 8 | Int(header[8])
        components = header[9]
    }

    private mutating func readScan(_ bytes: UnsafeRawBufferPointer, _ segment: Range<Int>) -> Int? {
        scans += 1
        file.append(segment)
        guard let next = Self.marker(in: bytes, from: segment.upperBound) else { return nil }
        file.append(segment.upperBound..<next)
        // Nothing follows a scan of all components, unless others refine it.
        if !isProgressive, segment.count > 4, bytes[segment.lowerBound + 4] == components { isComplete = true }
        return next
    }

    /// Copies the beginning of an application segment, without a thumbnail.
    private mutating func keep(
        _ bytes: UnsafeRawBufferPointer, _ segment: Range<Int>, named name: String, size: Int
    ) {
        let content = segment.dropFirst(4)
        guard content.count >= size, bytes[content].starts(with: name.utf8) else { return }
        file.append(copying: [0xFF, bytes[segment.lowerBound + 1], 0, UInt8(size + 2)])
        file.append(content.prefix(size))
    }

    /// The offset of the next marker that does not belong to a scan's data.
    private static func marker(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        var offset = start
        while let found = bytes.firstIndex(of: 0xFF, from: offset), found + 1 < bytes.count {
            switch bytes[found + 1] {
            case 0xFF: offset = found + 1
            case 0x00, 0x01, 0xD0...0xD7: offset = found + 2
            default: return found
            }
        }
        return nil
    }
}

extension UnsafeRawBufferPointer {
    /// Finds a byte with the C library, which compares many bytes at a time.
    fileprivate func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        guard start < count, let base = baseAddress, let found = memchr(base + start, Int32(byte), count - start)
        else { return nil }
        return UnsafeRawPointer(found) - base
    }
}

extension LoaderFile {
    /// The number of scans for an image with the maximum number of pixels; smaller images can have more.
    private static let maximumScansOfLargestImage = 16

    /// Each scan of a JPEG takes as long as a whole image, even without a byte of data.
    static func jpeg(_ data: Data, maximumPixels: Int) throws(ImageError) -> LoaderFile {
        let segments = JPEGSegments(data)
        let scans = segments.scans
        guard scans <= JPEGSegments.maximumScans else {
            throw ImageError(
                code: .malformed,
                message: "The jpeg image has more than \(JPEGSegments.maximumScans) scans.")
        }
        guard segments.isComplete, scans > 0, segments.width > 0, segments.height > 0 else {
            throw ImageError(endsEarly: .jpeg)
        }
        let (width, height) = (segments.width, segments.height)
        guard width.product(height) <= maximumPixels else {
            throw ImageError(tooManyPixels: width, height, limit: maximumPixels)
        }
        guard width.product(height).product(scans) <= maximumPixels.product(maximumScansOfLargestImage) else {
            throw ImageError(
                code: .tooManyPixels,
                message: "The jpeg image has \(width) x \(height) pixels in \(scans) scans, which take too long.")
        }
        var file = LoaderFile(.jpeg, segments.file.pieces)
        if segments.isProgressive { file.progressiveScans = scans }
        return file
    }
}
