internal import FoundationEssentials

extension String {
    /// As one word of a POSIX shell, whatever it holds (POSIX.1, Shell Command Language, section 2.2.2); NUL has no place in
    /// one and is left out.
    var shellQuoted: String {
        let text = replacing("\0", with: "")
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "-_./:=@%+,".utf8.contains(byte)
            }
        }
        if isPlain, !text.isEmpty { return text }
        return "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}

extension Data {
    /// As the format of POSIX `printf`, which writes these bytes.
    var printfFormat: String {
        var format = ""
        format.reserveCapacity(count * 4)
        for byte in self {
            format += "\\"
            for shift in [6, 3, 0] { format += String((byte >> UInt8(shift)) & 7) }
        }
        return format
    }
}
