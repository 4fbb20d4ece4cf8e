import FoundationEssentials

extension ImageInfo {
    /// The largest of the icons. One that is a PNG says itself how large it is, whatever the directory has.
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

/// The list of images at the beginning of an icon.
struct ICODirectory {
    struct Entry {
        let width: Int
        let height: Int
        /// Bits for each pixel, as the entry says.
        let depth: Int
        /// Where the entry itself stands.
        let place: Int
    }

    let count: Int
    /// The one with the most pixels, and of these the one with the most bits.
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

    /// An icon of the largest image alone, so that it is the one that is decoded; nil if it is not in the file.
    func largestAlone(in bytes: ImageBytes) -> Data? {
        guard let content = largest.content(in: bytes), let entry = bytes.part(largest.place, 12) else { return nil }
        return Data([0, 0, 1, 0, 1, 0]) + entry + Data([22, 0, 0, 0]) + content
    }
}

extension ICODirectory.Entry {
    /// The image's bytes, as far as the file goes.
    func content(in bytes: ImageBytes) -> Data? {
        guard let size = bytes.little(place + 8, 4), let offset = bytes.little(place + 12, 4), offset < bytes.count
        else {
            return nil
        }
        return bytes.part(offset, min(size, bytes.count - offset))
    }

    /// The image's bytes if it is a PNG, which gdk-pixbuf's loader of icons does not read.
    func png(in bytes: ImageBytes) -> Data? {
        content(in: bytes).flatMap { ImageFormat(sniffing: $0) == .png ? $0 : nil }
    }
}
