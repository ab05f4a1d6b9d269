"""The storm behind `holdfast chaos`: real workers, real signals, judged by witnesses outside the store."""
