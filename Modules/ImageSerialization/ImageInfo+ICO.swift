import FoundationEssentials

extension ImageInfo {
    /// The largest image of an icon. A PNG's own size counts, not the directory's.
    static func ico(_ bytes: ImageBytes) -> ImageInfo? {
        guard let directory = ICODirectory(bytes) else { return nil }
        let largest = directory.largest
        guard let content = largest.png(in: bytes) else {
            return ImageInfo(.ico, width: largest.width, height: largest.height, frameCount: directory.count)
        }
        guard let image = png(ImageBytes(content)) else { return nil }
        return ImageInfo(.ico, width: image.width, height: image.height, frameCount: directory.count)
    }
}

/// The directory at the beginning of an icon.
struct ICODirectory {
    struct Entry {
        let width: Int
        let height: Int
        /// The bits per pixel in the entry.
        let depth: Int
        /// The offset of the entry.
        let place: Int
    }

    let count: Int
    /// The image with the most pixels and, among equals, the most bits.
    let largest: Entry

    init?(_ bytes: ImageBytes) {
        guard let count = bytes.little(4, 2), count > 0 else { return nil }
        var largest: Entry?
        for place in stride(from: 6, to: 6 + count * 16, by: 16) {
            guard let width = bytes.byte(place), let height = bytes.byte(place + 1),
                let depth = bytes.little(place + 6, 2)
            else { return nil }
            // A side of 0 means 256.
            let entry = Entry(
                width: width == 0 ? 256 : width, height: height == 0 ? 256 : height, depth: depth, place: place)
            let pixels = (entry.width * entry.height, entry.depth)
            if let best = largest, pixels <= (best.width * best.height, best.depth) { continue }
            largest = entry
        }
        guard let largest else { return nil }
        self.count = count
        self.largest = largest
    }

    /// An icon with only the largest image, so that the loader decodes it; nil if its bytes are missing.
    func largestAlone(in bytes: ImageBytes) -> Data? {
        guard let found = largest.content(in: bytes), let entry = bytes.part(largest.place, 8),
            let content = BMPHeader.icon(ImageBytes(found), width: largest.width, height: largest.height)
        else { return nil }
        let size = (0..<4).map { UInt8(truncatingIfNeeded: content.count >> (8 * $0)) }
        return Data([0, 0, 1, 0, 1, 0]) + entry + size + Data([22, 0, 0, 0]) + content
    }
}

extension ICODirectory.Entry {
    /// The bytes of the image within the file.
    func content(in bytes: ImageBytes) -> Data? {
        guard let size = bytes.little(place + 8, 4), let offset = bytes.little(place + 12, 4), offset < bytes.count
        else {
            return nil
        }
        return bytes.part(offset, min(size, bytes.count - offset))
    }

    /// The bytes of the image if it is a PNG, which gdk-pixbuf's loader for icons does not support.
    func png(in bytes: ImageBytes) -> Data? {
        content(in: bytes).flatMap { ImageFormat(sniffing: $0) == .png ? $0 : nil }
    }
}
