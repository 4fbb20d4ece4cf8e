import CAdwaita
import LinnetImageSerialization

extension Bitmap {
    /// A new picture for GTK, which the caller owns.
    func makeTexture() -> OpaquePointer? {
        let bytes = pixels.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
        defer { g_bytes_unref(bytes) }
        return gdk_memory_texture_new(Int32(width), Int32(height), GDK_MEMORY_R8G8B8A8, bytes, gsize(width * 4))
    }
}
