internal import FoundationEssentials

/// The chunks of a PNG.
enum PNGChunks {
    private enum Place { case beforeData, inData, afterData }

    /// A file of the header, the palette, the transparent color, the first run of data and the end (PNG, third edition,
    /// sections 11.2 and 11.3.1.1).
    ///
    /// No pixel depends on other chunks: gdk-pixbuf converts no colors, so gamma, chromaticities and profiles change
    /// nothing, and it draws on no background. The chunks keep their checksums, which libpng verifies. A critical chunk
    /// that is unknown is an error (section 5.4).
    static func essential(_ bytes: ImageBytes) throws(ImageError) -> Data {
        var parts = [0..<8]
        var place = Place.beforeData
        var isTransparent = false
        var offset = 8
        while let length = bytes.big(offset, 4), let type = bytes.part(offset + 4, 4),
            length <= bytes.count - offset - 12
        {
            let chunk = offset..<(offset + 12 + length)
            let name = String(decoding: type, as: UTF8.self)
            if place == .inData, name != "IDAT" { place = .afterData }
            switch name {
            case "IEND":
                add(chunk, to: &parts)
                return bytes.joined(parts)
            case "IDAT":
                guard place != .afterData else { break }
                place = .inData
                add(chunk, to: &parts)
            case "IHDR", "PLTE":
                if place == .beforeData { add(chunk, to: &parts) }
            case "tRNS":
                if place == .beforeData, !isTransparent { add(chunk, to: &parts) }
                isTransparent = true
            default:
                guard isAncillary(type) else {
                    throw ImageError(damaged: .png, "it has a chunk of an unknown type")
                }
            }
            offset = chunk.upperBound
        }
        throw ImageError(endsEarly: .png)
    }

    /// Adds a range of bytes, to the last one if it follows it.
    private static func add(_ chunk: Range<Int>, to parts: inout [Range<Int>]) {
        guard let last = parts.last, last.upperBound == chunk.lowerBound else { return parts.append(chunk) }
        parts[parts.count - 1] = last.lowerBound..<chunk.upperBound
    }

    /// Whether a type consists of letters and begins with a lowercase one (PNG, section 5.4).
    private static func isAncillary(_ type: Data) -> Bool {
        let small = UInt8(ascii: "a")...UInt8(ascii: "z")
        return type.first.map(small.contains) ?? false && type.allSatisfy { small.contains($0 | 0x20) }
    }
}
