public import FoundationEssentials

extension CookieJar {
    /// Makes a jar with the cookies that ``save(to:)`` wrote to a file. Without the file, the jar is empty.
    ///
    /// The call blocks. Reading needs no lock, because the file is only replaced as a whole.
    ///
    /// - Parameters:
    ///   - file: The URL of the file.
    ///   - configure: Changes the default configuration.
    /// - Throws: ``CookieError`` with the code ``CookieError/Code/unreadableFile``, ``CookieError/Code/unsupportedVersion`` or
    ///   ``CookieError/Code/corruptFile``. A corrupt file is renamed first, so that the next call makes an empty jar; with the code
    ///   ``CookieError/Code/unwritableFile`` it could not be renamed.
    public convenience init(
        contentsOf file: URL, _ configure: (inout Configuration) -> Void = { _ in }
    ) throws(CookieError) {
        self.init(configure)
        let store = try CookieFile(file, .unreadableFile)
        storage.adopt(try Self.cookies(in: store), instead: [], at: store.path)
    }

    private static func cookies(in store: CookieFile) throws(CookieError) -> [StoredCookie] {
        do throws(CookieError) {
            return try store.cookies() ?? []
        } catch {
            guard error.code == .corruptFile else { throw error }
        }
        // Another process may have replaced the file meanwhile.
        let (cookies, damage) = try store.locked { () throws(CookieError) in try recovered(from: store) }
        if let damage { throw damage }
        return cookies ?? []
    }

    /// Writes the persistent cookies to a file, and takes over what other processes have written to it.
    ///
    /// The file is replaced as a whole: when the process or the machine stops, it has all the old cookies or all the new ones.
    /// Only its owner can read it. Session cookies are not written. The folder must exist. The call blocks for the disk, and while
    /// another process saves to the same file (`flock` on a file beside it, with the extension `lock`), so do not call it on an
    /// event loop.
    ///
    /// Several processes can share a file. Afterwards, the jar and the file have the cookies of all of them. A cookie that one
    /// removed since it last read or wrote the file is gone, unless another has changed it. Of two changes the one that was used
    /// later wins. If the file was deleted, it is written again.
    ///
    /// - Parameter file: The URL of the file.
    /// - Throws: ``CookieError`` with the code ``CookieError/Code/unwritableFile``, also if another process holds the file's lock
    ///   for 10 seconds, ``CookieError/Code/unreadableFile`` or ``CookieError/Code/unsupportedVersion``; then the file is as it
    ///   was, unless it was corrupt and has been renamed. With the code ``CookieError/Code/corruptFile``, the damaged file was
    ///   renamed, and the cookies of the jar were written.
    public func save(to file: URL) throws(CookieError) {
        let store = try CookieFile(file, .unwritableFile)
        let damage = try store.locked { () throws(CookieError) -> CookieError? in
            let (theirs, damage) = try Self.recovered(from: store)
            let (ours, base) = storage.snapshot(for: store.path)
            let merged = CookieMerge.merged(ours: ours, theirs: theirs ?? [], base: theirs == nil ? [:] : base)
            let written = CookieTable.withinLimits(merged, now: configuration.now())
            try store.replace(with: written)
            storage.adopt(written, instead: ours, at: store.path)
            return damage
        }
        if let damage { throw damage }
    }

    /// The cookies in a file, nil if there is none; and the error of a corrupt one, which is renamed.
    private static func recovered(
        from store: CookieFile
    ) throws(CookieError) -> (cookies: [StoredCookie]?, damage: CookieError?) {
        do throws(CookieError) {
            return (try store.cookies(), nil)
        } catch {
            guard error.code == .corruptFile else { throw error }
            return (nil, try store.setAside(error))
        }
    }
}
