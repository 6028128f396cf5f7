//! helm, and a program on its library.

mod on_cluster;
