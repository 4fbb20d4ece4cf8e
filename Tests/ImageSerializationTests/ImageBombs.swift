import CommandSupport
import FoundationEssentials

/// Files under 100 KB that take much memory or time without limits on decoding.
struct ImageBomb: Sendable {
    /// The effect of the file.
    let name: String
    /// The permitted growth of the memory's peak: two copies of the pixels, and the needs of the decoder.
    var megabytes = 12
    /// Whether it is an image; otherwise it is refused.
    var isDecoded = true
    let make: @Sendable () throws -> Data

    static let all: [ImageBomb] = [png, jpeg, gif, bitmaps, tiff, webp].flatMap { $0 }

    static func named(_ name: String) -> ImageBomb? { all.first { $0.name == name } }
}

func big(_ number: Int, _ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * (size - 1 - $0))) }
}

func little(_ number: Int, _ size: Int) -> [UInt8] { big(number, size).reversed() }

// MARK: PNG

extension ImageBomb {
    /// A PNG of zeros; the chunks before and after its data.
    static func png(
        width: Int = 1, height: Int = 1, depth: Int = 8, color: Int = 0, interlaced: Bool = false,
        before: [UInt8] = [], after: [UInt8] = []
    ) -> Data {
        let channels = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][color] ?? 1
        var header = big(width, 4) + big(height, 4)
        header += [UInt8(depth), UInt8(color), 0, 0, interlaced ? 1 : 0]
        var rows = [(width: width, height: height)]
        if interlaced {
            rows = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
                .map { x, y, right, down in ((width - x + right - 1) / right, (height - y + down - 1) / down) }
        }
        var size = 0
        for row in rows where row.width > 0 { size += ((row.width * channels * depth + 7) / 8 + 1) * row.height }
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let data = chunk("IDAT", zlib(count: size))
        return Data([signature, chunk("IHDR", header), before, data, after, chunk("IEND", [])].flatMap { $0 })
    }

    static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        var checksum = PNGChecksum()
        (Array(type.utf8) + content).forEach { checksum.add($0) }
        return big(content.count, 4) + Array(type.utf8) + content + checksum.bytes
    }

    /// A profile that libpng accepts: the size, the class, the color space, the date's place, the signature, the
    /// illuminant.
    private static func profile(_ size: Int) -> [UInt8] {
        var start = big(size, 4) + [UInt8](repeating: 0, count: 128)
        start.replaceSubrange(8..<12, with: [4, 0, 0, 0])
        start.replaceSubrange(12..<24, with: Array("mntrRGB XYZ ".utf8))
        start.replaceSubrange(36..<40, with: Array("acsp".utf8))
        start.replaceSubrange(68..<80, with: [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D])
        return zlib(start, count: size - start.count)
    }

    private static let text = chunk("zTXt", Array("a\0\0".utf8) + zlib([], 65, count: 7_990_000))
    private static let international = chunk("iTXt", Array("a\0\u{1}\0\0\0".utf8) + zlib([], 65, count: 7_990_000))

    fileprivate static let png = [
        ImageBomb(name: "png: compressed text before the data") { png(before: (0..<12).flatMap { _ in text }) },
        ImageBomb(name: "png: compressed text after the data") { png(after: (0..<12).flatMap { _ in text }) },
        ImageBomb(name: "png: international text before the data") {
            png(before: (0..<12).flatMap { _ in international })
        },
        ImageBomb(name: "png: international text after the data") {
            png(after: (0..<12).flatMap { _ in international })
        },
        ImageBomb(name: "png: color profile") {
            png(color: 2, before: chunk("iCCP", Array("a\0\0".utf8) + profile(7_990_000)))
        },
        ImageBomb(name: "png: eight thousand empty chunks") {
            png(before: (0..<8000).flatMap { _ in chunk("teSt", []) })
        },
        ImageBomb(name: "png: an animation of four hundred frames") {
            let frame = zlib(count: 2000 * 2001)
            var chunks = chunk("acTL", big(400, 4) + big(0, 4))
            for index in 0..<20 {
                let control = [index * 2, 1, 1].flatMap { big($0, 4) } + [UInt8](repeating: 0, count: 14)
                chunks += chunk("fcTL", control)
                chunks += chunk("fdAT", big(index * 2 + 1, 4) + frame)
            }
            return png(after: chunks)
        },
        ImageBomb(name: "png: 64 million pixels", megabytes: 520) { png(width: 8000, height: 8000) },
        ImageBomb(name: "png: 64 million interlaced pixels", megabytes: 520) {
            png(width: 8000, height: 8000, depth: 8, interlaced: true)
        },
        ImageBomb(name: "png: 11 million pixels of 16 bits", megabytes: 130) {
            png(width: 3300, height: 3300, depth: 16, color: 6)
        },
    ]
}

// MARK: JPEG

extension ImageBomb {
    /// A gray JPEG of scans without data, which end by their next marker.
    static func jpeg(
        frame: UInt8, width: Int, height: Int, scans: Int, interval: Int = 0, components: Int = 1,
        data: [UInt8] = []
    ) -> Data {
        func table(_ place: UInt8) -> [UInt8] {
            [0xFF, 0xC4, 0, 20, place, 1] + [UInt8](repeating: 0, count: 16)
        }
        var bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
        bytes += [0xFF, frame] + big(8 + 3 * components, 2) + [8] + big(height, 2) + big(width, 2)
        bytes += [UInt8(components)] + (1...components).flatMap { [UInt8($0), 0x11, 0] } + table(0) + table(0x10)
        if interval > 0 { bytes += [0xFF, 0xDD, 0, 4] + big(interval, 2) }
        let isProgressive = frame & 3 == 2
        for scan in 0..<scans {
            if isProgressive {
                bytes += [0xFF, 0xDA] + big(6 + 2 * components, 2) + [UInt8(components)]
                bytes += (1...components).flatMap { [UInt8($0), 0] } + [0, 0, 0]
            } else {
                bytes += [0xFF, 0xDA, 0, 8, 1, UInt8(scan % components + 1), 0, 0, 63, 0]
            }
            bytes += data
        }
        return Data(bytes + [0xFF, 0xD9])
    }

    /// Bytes without markers.
    private static func noise(_ count: Int) -> [UInt8] {
        var dice = SplitMix(seed: 27)
        return (0..<count).map { _ in .random(in: 0...254, using: &dice) }
    }

    fileprivate static let jpeg = [
        ImageBomb(name: "jpeg: ten scans of 64 million pixels", megabytes: 650) {
            jpeg(frame: 0xC2, width: 8000, height: 8000, scans: 10)
        },
        ImageBomb(name: "jpeg: 16 scans of 64 million pixels of three components", megabytes: 900) {
            jpeg(frame: 0xC2, width: 8000, height: 8000, scans: 16, components: 3, data: noise(5000))
        },
        ImageBomb(name: "jpeg: 64 scans of 64 million pixels", isDecoded: false) {
            jpeg(frame: 0xC2, width: 8000, height: 8000, scans: 64)
        },
        ImageBomb(name: "jpeg: 64 scans of one million pixels") {
            jpeg(frame: 0xC2, width: 1000, height: 1000, scans: 64)
        },
        ImageBomb(name: "jpeg: 64 scans of a million pixels with data") {
            jpeg(frame: 0xC2, width: 1000, height: 1000, scans: 64, data: [UInt8](repeating: 0, count: 1400))
        },
        ImageBomb(name: "jpeg: 64 sequential scans of 64 million pixels", isDecoded: false) {
            jpeg(frame: 0xC0, width: 8000, height: 8000, scans: 64, components: 3)
        },
        ImageBomb(name: "jpeg: arithmetic coding", megabytes: 220, isDecoded: false) {
            jpeg(frame: 0xC9, width: 8000, height: 8000, scans: 1, data: noise(90_000))
        },
        ImageBomb(name: "jpeg: progressive arithmetic coding", megabytes: 650) {
            jpeg(frame: 0xCA, width: 8000, height: 8000, scans: 10, data: noise(9000))
        },
        ImageBomb(name: "jpeg: 64 million pixels with restarts", megabytes: 520) {
            jpeg(frame: 0xC0, width: 8000, height: 8000, scans: 1, interval: 1)
        },
        ImageBomb(name: "jpeg: 64 million pixels in three components", megabytes: 900) {
            jpeg(frame: 0xC2, width: 8000, height: 8000, scans: 1, components: 3)
        },
        ImageBomb(name: "jpeg: comments and profiles") {
            let jpeg = try ImageSamples.image("jpeg")
            let profile = Array("ICC_PROFILE\0\u{1}\u{1}".utf8) + [UInt8](repeating: 7, count: 30_000)
            let segments = [0xFF, 0xE2] + big(profile.count + 2, 2) + profile
            let comments = (0..<10_000).flatMap { _ in [0xFF, 0xFE, 0, 3, 7] as [UInt8] }
            return ImageSamples.withSegments(segments + comments, jpeg: jpeg)
        },
    ]
}

// MARK: GIF

extension ImageBomb {
    /// A GIF of one color, with codes for longer and longer runs.
    static func gif(width: Int, height: Int, frames: Int = 1, interlaced: Bool = false) -> Data {
        var bits = BitWriter()
        bits.write(4, 3)
        bits.write(0, 3)
        var (pixels, next, length) = (1, 6, 1)
        while pixels < width * height {
            // The code that the decoder is about to add: the former run and one more; the last one again when the table
            // is full.
            let code = min(next, 4095)
            let size = max(3, min(12, Int.bitWidth - next.leadingZeroBitCount))
            if next <= 4095 { length += 1 }
            bits.write(code, size)
            pixels += length
            if next <= 4095 { next += 1 }
        }
        bits.write(5, min(12, Int.bitWidth - next.leadingZeroBitCount))
        bits.align()
        var bytes = Array("GIF89a".utf8) + little(width, 2) + little(height, 2) + [0x81, 0, 0]
        bytes += [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]
        for _ in 0..<frames {
            bytes += [0x21, 0xF9, 4, 0, 10, 0, 0, 0, 0x2C, 0, 0, 0, 0] + little(width, 2) + little(height, 2)
            bytes += [interlaced ? 0x40 : 0, 2]
            for start in stride(from: 0, to: bits.bytes.count, by: 255) {
                let block = bits.bytes[start..<min(start + 255, bits.bytes.count)]
                bytes += [UInt8(block.count)] + block
            }
            bytes.append(0)
        }
        return Data(bytes + [0x3B])
    }

    fileprivate static let gif = [
        ImageBomb(name: "gif: 64 million pixels", megabytes: 620) { gif(width: 8000, height: 8000) },
        ImageBomb(name: "gif: 64 million interlaced pixels", megabytes: 620) {
            gif(width: 8000, height: 8000, interlaced: true)
        },
        ImageBomb(name: "gif: 20 frames of four million pixels", megabytes: 64) {
            gif(width: 2000, height: 2000, frames: 20)
        },
        ImageBomb(name: "gif: comments") {
            let image = gif(width: 2, height: 2)
            let comment: [UInt8] = [0x21, 0xFE, 5, 1, 2, 3, 4, 5, 0]
            return image.prefix(25) + (0..<9000).flatMap { _ in comment } + image.dropFirst(25)
        },
    ]
}

// MARK: BMP and ICO

extension ImageBomb {
    private static func header(
        width: Int, height: Int, depth: Int, compression: Int = 0, size: Int = 40, colors: Int = 0
    ) -> [UInt8] {
        let numbers = [
            (size, 4), (width, 4), (height, 4), (1, 2), (depth, 2), (compression, 4), (0, 12), (colors, 4), (0, 4),
        ]
        return numbers.flatMap { little($0, $1) }
    }

    static func bmp(
        width: Int, height: Int, depth: Int, compression: Int = 0, headerSize: Int = 40, start: Int? = nil,
        data: [UInt8]
    ) -> Data {
        let palette = [UInt8](repeating: 9, count: depth <= 8 ? 4 << depth : 0)
        let info = header(width: width, height: height, depth: depth, compression: compression, size: headerSize)
        var bytes = Array("BM".utf8) + little(0, 8) + little(start ?? 54 + palette.count, 4)
        for part in [info, palette, data] { bytes += part }
        return Data(bytes)
    }

    static func icon(_ image: [UInt8]) -> Data {
        let start: [UInt8] = [0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 1, 0]
        return Data([start, little(image.count, 4), little(22, 4), image].flatMap { $0 })
    }

    fileprivate static let bitmaps = [
        ImageBomb(name: "bmp: header of four gigabytes", isDecoded: false) {
            bmp(width: 2, height: 2, depth: 24, headerSize: 0x7FFF_FFF0, data: [UInt8](repeating: 0, count: 90_000))
        },
        ImageBomb(name: "bmp: data after two gigabytes", isDecoded: false) {
            bmp(width: 2, height: 2, depth: 24, start: 0x7FFF_FFF0, data: [UInt8](repeating: 0, count: 90_000))
        },
        ImageBomb(name: "bmp: 64 million pixels of which few are there", isDecoded: false) {
            bmp(width: 8000, height: 8000, depth: 1, data: [UInt8](repeating: 0, count: 90_000))
        },
        ImageBomb(name: "bmp: 11 million pixels as runs", megabytes: 110) {
            let run: [UInt8] = [255, 1]
            let row: [UInt8] = (0..<13).flatMap { _ in run } + [185, 1, 0, 0]
            let rows = (0..<3200).flatMap { _ in row }
            return bmp(width: 3500, height: 3200, depth: 8, compression: 1, data: rows + [0, 1])
        },
        ImageBomb(name: "ico: 64 million pixels of which few are there", isDecoded: false) {
            let palette: [UInt8] = [0, 0, 0, 0, 255, 255, 255, 0]
            let start = header(width: 8000, height: 16_000, depth: 1) + palette
            return icon(start + [UInt8](repeating: 0, count: 90_000))
        },
        ImageBomb(name: "ico: palette of two gigabytes", isDecoded: false) {
            let start = header(width: 16, height: 32, depth: 24, colors: 0x1FFF_FF00)
            return icon(start + [UInt8](repeating: 0, count: 90_000))
        },
        ImageBomb(name: "ico: a PNG with compressed text") {
            icon(Array(png(before: (0..<11).flatMap { _ in text })))
        },
    ]
}

// MARK: TIFF

extension ImageBomb {
    struct Tag {
        let tag: Int
        var type = 4
        let values: [Int]
    }

    /// A TIFF of some bytes and a directory behind them. The offsets of the tags count from the beginning of the file.
    static func tiff(_ content: [UInt8], _ tags: [Tag], raw: [[UInt8]] = [], bigEndian: Bool = false) -> Data {
        let number = bigEndian ? big : little
        let sizes = [1: 1, 3: 2, 4: 4]
        var body = content
        var entries: [(Int, [UInt8])] = []
        for tag in tags {
            let size = sizes[tag.type] ?? 1
            var value = tag.values.flatMap { number($0, size) }
            if value.count > 4 {
                let place = 8 + body.count
                body += value
                value = number(place, 4)
            }
            value += [UInt8](repeating: 0, count: 4 - value.count)
            let start = number(tag.tag, 2) + number(tag.type, 2) + number(tag.values.count, 4)
            entries.append((tag.tag, start + value))
        }
        entries += raw.map { (Int($0[0]) | Int($0[1]) << 8, $0) }
        entries.sort { $0.0 < $1.0 }
        if !body.count.isMultiple(of: 2) { body.append(0) }
        let start: [UInt8] = bigEndian ? [0x4D, 0x4D, 0, 42] : [0x49, 0x49, 42, 0]
        let directory = number(entries.count, 2) + entries.flatMap { $0.1 } + [0, 0, 0, 0]
        return Data([start, number(8 + body.count, 4), body, directory].flatMap { $0 })
    }

    static func size(_ width: Int, _ height: Int, compression: Int = 1, samples: Int = 1) -> [Tag] {
        [
            Tag(tag: 256, values: [width]), Tag(tag: 257, values: [height]),
            Tag(tag: 258, type: 3, values: [Int](repeating: 8, count: samples)),
            Tag(tag: 259, type: 3, values: [compression]),
            Tag(tag: 262, type: 3, values: [samples == 1 ? 1 : 2]), Tag(tag: 277, type: 3, values: [samples]),
        ]
    }

    fileprivate static let tiff = [
        ImageBomb(name: "tiff: four thousand tags of the same 45 KB") {
            let content = [UInt8](repeating: 7, count: 45_000)
            let rest = [1, 0] + little(content.count, 4) + [8, 0, 0, 0]
            let tags = (0..<4000).map { little(40_000 + $0, 2) + rest }
            return tiff(
                content, size(4, 4) + [Tag(tag: 273, values: [8]), Tag(tag: 279, values: [16])], raw: tags)
        },
        ImageBomb(name: "tiff: strips of the same 40 KB", isDecoded: false) {
            let content = [UInt8](repeating: 7, count: 40_000)
            return tiff(
                content,
                size(16, 7000) + [
                    Tag(tag: 278, values: [1]), Tag(tag: 273, values: [Int](repeating: 8, count: 7000)),
                    Tag(tag: 279, values: [Int](repeating: 40_000, count: 7000)),
                ])
        },
        ImageBomb(name: "tiff: two thousand tiles of a million pixels", isDecoded: false) {
            let content = [UInt8](repeating: 0, count: 65_000)
            return tiff(
                content,
                size(32_000, 16) + [
                    Tag(tag: 322, values: [16]), Tag(tag: 323, values: [65_536]),
                    Tag(tag: 324, values: [Int](repeating: 8, count: 2000)),
                    Tag(tag: 325, values: [Int](repeating: 30, count: 2000)),
                ])
        },
        ImageBomb(name: "tiff: hundred scans of 64 million pixels as JPEG", isDecoded: false) {
            let strip = Array(jpeg(frame: 0xC2, width: 8000, height: 4000, scans: 99))
            let offsets = [8, 8 + strip.count]
            return tiff(
                strip + strip,
                size(8000, 8000, compression: 7) + [
                    Tag(tag: 278, values: [4000]), Tag(tag: 273, values: offsets),
                    Tag(tag: 279, values: [strip.count, strip.count]),
                ])
        },
        ImageBomb(name: "tiff: 64 million pixels in deflate", megabytes: 640) {
            let strip = zlib(count: 64_000_000)
            return tiff(
                strip,
                size(8000, 8000, compression: 8) + [
                    Tag(tag: 273, values: [8]), Tag(tag: 279, values: [strip.count]),
                ])
        },
        ImageBomb(name: "tiff: color profile") {
            let content = [UInt8](repeating: 7, count: 90_000)
            let profile = little(34_675, 2) + [7, 0] + little(content.count, 4) + [8, 0, 0, 0]
            return tiff(
                content, size(4, 4) + [Tag(tag: 273, values: [8]), Tag(tag: 279, values: [16])], raw: [profile])
        },
        ImageBomb(name: "tiff: ten thousand directories", isDecoded: false) {
            var bytes: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0]
            for index in 0..<16_000 { bytes += [0, 0] + little(8 + (index + 1) * 6, 4) }
            return Data(bytes)
        },
    ]
}

// MARK: WebP

extension ImageBomb {
    static func riff(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let padding: [UInt8] = content.count.isMultiple(of: 2) ? [] : [0]
        return [Array(type.utf8), little(content.count, 4), content, padding].flatMap { $0 }
    }

    static func webp(_ chunks: [UInt8]) -> Data {
        Data([Array("RIFF".utf8), little(chunks.count + 4, 4), Array("WEBP".utf8), chunks].flatMap { $0 })
    }

    static func canvas(_ width: Int, _ height: Int, flags: UInt8) -> [UInt8] {
        riff("VP8X", [flags, 0, 0, 0] + little(width - 1, 3) + little(height - 1, 3))
    }

    /// The chunk of a lossless image of one color: codes of one symbol, which no bit of data stands for.
    static func lossless(_ width: Int, _ height: Int, color: (red: Int, green: Int, blue: Int, alpha: Int)) -> [UInt8] {
        var bits = BitWriter()
        bits.write(0x2F, 8)
        bits.write(width - 1, 14)
        bits.write(height - 1, 14)
        // Alpha, version 0, and neither transforms nor a cache of colors nor codes for parts.
        bits.write(color.alpha < 255 ? 1 : 0, 1)
        bits.write(0, 6)
        for value in [color.green, color.red, color.blue, color.alpha, 0] {
            bits.write(0b101, 3)
            bits.write(value, 8)
        }
        bits.align()
        return riff("VP8L", bits.bytes)
    }

    /// A lossless image with a group of codes for each of 16,384 parts, two and a half bytes of which become five
    /// thousand.
    private static func groups() -> [UInt8] {
        func one(_ bits: inout BitWriter) { bits.write(0b0001, 4) }
        /// A code of so many bits for each of the first symbols.
        func equal(_ size: Int, symbols: Int, _ bits: inout BitWriter) {
            let order = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8]
            let used = order.prefix { $0 != size } + [size]
            bits.write(0, 1)
            bits.write(used.count - 4, 4)
            for symbol in used { bits.write(symbol == 0 || symbol == size ? 1 : 0, 3) }
            bits.write(0, 1)
            for symbol in 0..<symbols { bits.write(symbol < 1 << size ? 1 : 0, 1) }
        }
        var bits = BitWriter()
        for (value, size) in [(0x2F, 8), (511, 14), (511, 14), (0, 4), (0, 2), (1, 1), (0, 3), (0, 1)] {
            bits.write(value, size)
        }
        equal(8, symbols: 280, &bits)
        equal(6, symbols: 256, &bits)
        for _ in 0..<3 { one(&bits) }
        for group in 0..<16_384 { bits.write(group, 14) }
        for _ in 0..<(16_384 * 5) { one(&bits) }
        bits.align()
        return riff("VP8L", bits.bytes)
    }

    static func frame(_ image: [UInt8], x: Int = 0, y: Int = 0, width: Int, height: Int) -> [UInt8] {
        let numbers = [x / 2, y / 2, width - 1, height - 1, 100].flatMap { little($0, 3) }
        return riff("ANMF", numbers + [0] + image)
    }

    static func animation(width: Int, height: Int, frames: Int) -> Data {
        let image = lossless(width, height, color: (10, 20, 30, 255))
        let frame = frame(image, width: width, height: height)
        let start = canvas(width, height, flags: 2) + riff("ANIM", [0, 0, 0, 0, 0, 0])
        return webp(start + (0..<frames).flatMap { _ in frame })
    }

    fileprivate static let webp =
        !ImageSamples.hasWebP
        ? []
        : [
            ImageBomb(name: "webp: 64 million pixels", megabytes: 700) {
                webp(lossless(8000, 8000, color: (10, 20, 30, 255)))
            },
            ImageBomb(name: "webp: animation of 10 frames of 64 million pixels", megabytes: 700) {
                animation(width: 8000, height: 8000, frames: 10)
            },
            ImageBomb(name: "webp: animation of 200 frames of a million pixels", megabytes: 24) {
                animation(width: 1000, height: 1000, frames: 200)
            },
            // Bounded by libwebp: 65,536 groups take 370 MB.
            ImageBomb(name: "webp: groups of codes", megabytes: 120) { webp(groups()) },
            ImageBomb(name: "webp: metadata") {
                let image = lossless(16, 16, color: (10, 20, 30, 255))
                let data = [UInt8](repeating: 7, count: 30_000)
                let chunks = [
                    canvas(16, 16, flags: 0x2C), riff("ICCP", data), image, riff("EXIF", data), riff("XMP ", data),
                ]
                return webp(chunks.flatMap { $0 })
            },
        ]
}
