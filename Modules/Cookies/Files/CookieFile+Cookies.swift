internal import FoundationEssentials

extension CookieFile {
    private struct Version: Codable {
        var version: Int
    }

    private struct Contents: Codable {
        var version = CookieFile.version
        var cookies: [StoredCookie]
    }

    private static var version: Int { 1 }

    /// Reads the cookies; nil if there is no file.
    func cookies() throws(CookieError) -> [StoredCookie]? {
        guard let data = try read() else { return nil }
        guard let version = try? JSONDecoder().decode(Version.self, from: data).version else {
            throw CookieError(.corruptFile, file: path, "is not a store of cookies")
        }
        guard version <= Self.version else {
            throw CookieError(
                .unsupportedVersion, file: path, "has version \(version), and this library writes \(Self.version)")
        }
        guard let contents = try? JSONDecoder().decode(Contents.self, from: data) else {
            throw CookieError(.corruptFile, file: path, "is damaged")
        }
        return contents.cookies
    }

    /// Replaces the cookies in the file. Requires the lock.
    func replace(with cookies: [StoredCookie]) throws(CookieError) {
        guard let data = try? JSONEncoder().encode(Contents(cookies: cookies)) else {
            throw CookieError(.unwritableFile, file: path, "cannot store a date that is not finite")
        }
        try replace(with: data)
    }

    /// Sets a corrupt file aside. Requires the lock.
    ///
    /// - Parameter error: The error of the code `corruptFile` with which reading failed.
    /// - Returns: The error with the new path.
    func setAside(_ error: CookieError) throws(CookieError) -> CookieError {
        let aside = try setAside()
        let reason = error.message.dropLast()
        var moved = CookieError(.corruptFile, file: path, "was moved to \(aside) (\(reason))")
        moved.setAsidePath = aside
        return moved
    }
}
