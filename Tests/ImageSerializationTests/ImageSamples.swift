import CGdkPixbuf
import FoundationEssentials
import LinnetImageSerialization
import Testing

/// Images made when a test runs.
enum ImageSamples {
    /// Encodes pixels with gdk-pixbuf's own writer.
    static func encode(
        _ pixels: [UInt8], width: Int, height: Int, alpha: Bool, as type: String = "png"
    ) throws -> Data {
        let channels = alpha ? 4 : 3
        let pixbuf = try #require(
            gdk_pixbuf_new(GDK_COLORSPACE_RGB, alpha ? 1 : 0, 8, Int32(width), Int32(height))
        )
        defer { g_object_unref(UnsafeMutableRawPointer(pixbuf)) }
        let target = try #require(gdk_pixbuf_get_pixels(pixbuf))
        for y in 0..<height {
            for x in 0..<width * channels {
                target[y * Int(gdk_pixbuf_get_rowstride(pixbuf)) + x] = pixels[y * width * channels + x]
            }
        }
        var buffer: UnsafeMutablePointer<gchar>?
        var size: gsize = 0
        let saved = gdk_pixbuf_save_to_bufferv(pixbuf, &buffer, &size, type, nil, nil, nil)
        try #require(saved != 0)
        defer { g_free(buffer) }
        return Data(bytes: try #require(buffer), count: Int(size))
    }

    static func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) } }

    /// An image of each format that gdk-pixbuf writes or that is made here; WebP where its loader is there.
    static func image(_ type: String, width: Int = 20, height: Int = 20) throws -> Data {
        if type == "gif" { return gif(width: width, height: height, frames: [1]) }
        return try encode(pattern(width * height * 3), width: width, height: height, alpha: false, as: type)
    }

    static let hasWebP = ImageFormat.webp.isReadable
    static let types = ["png", "jpeg", "bmp", "tiff", "ico", "gif"] + (hasWebP ? ["webp"] : [])

    /// A GIF of four colours, red, green, blue and white, with a frame for each number, filled with that colour. Its
    /// codes are all as wide as at the beginning, which a clear code before each third sees to.
    static func gif(width: Int, height: Int, frames: [Int]) -> Data {
        func short(_ number: Int) -> [UInt8] {
            [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
        }
        var bytes = Array("GIF89a".utf8) + short(width) + short(height) + [0x81, 0, 0]
        bytes += [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]
        for color in frames {
            bytes += [0x21, 0xF9, 4, 0, 10, 0, 0, 0]
            bytes += [0x2C, 0, 0, 0, 0] + short(width) + short(height) + [0, 2]
            var codes: [Int] = []
            for pixel in 0..<width * height {
                if pixel % 2 == 0 { codes.append(4) }
                codes.append(color)
            }
            codes.append(5)
            var data: [UInt8] = []
            var (bits, count) = (0, 0)
            for code in codes {
                bits |= code << count
                count += 3
                while count >= 8 {
                    data.append(UInt8(bits & 0xFF))
                    bits >>= 8
                    count -= 8
                }
            }
            if count > 0 { data.append(UInt8(bits & 0xFF)) }
            for start in stride(from: 0, to: data.count, by: 255) {
                let block = data[start..<min(start + 255, data.count)]
                bytes += [UInt8(block.count)] + block
            }
            bytes.append(0)
        }
        return Data(bytes + [0x3B])
    }

    /// A JPEG with EXIF's orientation in front.
    static func jpeg(_ pixels: [UInt8], width: Int, height: Int, orientation: UInt8, bigEndian: Bool = false) throws
        -> Data
    {
        var data = try encode(pixels, width: width, height: height, alpha: false, as: "jpeg")
        let directory: [UInt8] =
            bigEndian
            ? [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
            : [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0]
        let segment = Array("Exif\0\0".utf8) + directory
        data.insert(contentsOf: [0xFF, 0xE1, 0, UInt8(segment.count + 2)] + segment, at: 2)
        return data
    }

    /// A TIFF without pixels, with these tags beside those that it must have; a type and one value each.
    static func tiff(width: Int, height: Int, tags: [(tag: Int, type: Int, value: Int)]) -> Data {
        func little(_ number: Int, _ size: Int) -> [UInt8] { (0..<size).map { UInt8(number >> (8 * $0) & 0xFF) } }
        let usual = [
            (256, 4, width), (257, 4, height), (258, 3, 8), (259, 3, 1), (262, 3, 2), (273, 4, 8), (279, 4, 8),
        ]
        let entries = (usual + tags.map { ($0.tag, $0.type, $0.value) }).sorted { $0.0 < $1.0 }
        var bytes: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0] + little(entries.count, 2)
        for (tag, type, value) in entries {
            bytes += little(tag, 2) + little(type, 2) + little(1, 4) + little(value, 4)
        }
        return Data(bytes + [0, 0, 0, 0])
    }

    /// The PNG with EXIF's orientation behind its header.
    static func withOrientation(_ orientation: UInt8, png: Data) -> Data {
        var chunk = Array("eXIf".utf8)
        chunk += [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
        var checksum = PNGChecksum()
        chunk.forEach { checksum.add($0) }
        var data = png
        data.insert(contentsOf: [0, 0, 0, UInt8(chunk.count - 4)] + chunk + checksum.bytes, at: 33)
        return data
    }

    /// The image with another size in its header: a bomb.
    static func withSize(_ size: Int, _ type: String) throws -> Data {
        var data = try image(type)
        func big(_ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: size >> (8 * (count - 1 - $0))) }
        }
        func little(_ count: Int) -> [UInt8] { big(count).reversed() }
        switch type {
        case "png":
            data.replaceSubrange(16..<24, with: big(4) + big(4))
            var checksum = PNGChecksum()
            data[12..<29].forEach { checksum.add($0) }
            data.replaceSubrange(29..<33, with: checksum.bytes)
        case "gif": data.replaceSubrange(6..<10, with: little(2) + little(2))
        case "bmp": data.replaceSubrange(18..<26, with: little(4) + little(4))
        case "jpeg":
            let frame = try #require(data.indices.dropLast(9).first { data[$0] == 0xFF && data[$0 + 1] == 0xC0 })
            data.replaceSubrange((frame + 5)..<(frame + 9), with: big(2) + big(2))
        case "tiff":
            let directory = Int(data[4]) | Int(data[5]) << 8 | Int(data[6]) << 16
            for index in 0..<Int(data[directory]) {
                let entry = directory + 2 + index * 12
                guard data[entry + 1] == 1, data[entry] <= 1 else { continue }
                data.replaceSubrange((entry + 2)..<(entry + 12), with: [4, 0, 1, 0, 0, 0] + little(4))
            }
        default: Issue.record("no bomb of \(type)")
        }
        return data
    }
}

/// PNG's CRC-32.
struct PNGChecksum {
    private var state: UInt32 = .max

    mutating func add(_ byte: UInt8) {
        state ^= UInt32(byte)
        for _ in 0..<8 { state = state & 1 == 1 ? 0xEDB8_8320 ^ state >> 1 : state >> 1 }
    }

    var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: ~state >> UInt32(24 - $0 * 8)) } }
}
